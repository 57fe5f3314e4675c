import { randomUUID } from 'node:crypto';
import Big from 'big.js';
import { bankAccountFor } from '../accounts/account-details.ts';
import { type LockedFunds, lockFunds, openHolds } from '../accounts/held-money.ts';
import type { Act } from '../audit/act.ts';
import { noteRecord } from '../audit/change.ts';
import type { AuditEntry } from '../audit/record.ts';
import { lockChanges, type Transaction, together } from '../database/database.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { decimalsOf } from '../values/money.ts';
import type { REASONS } from '../values/reasons.ts';
import { type NewTrade, writeTrades } from './trade-booking.ts';
import type { TradeRecord } from './trade-declaration.ts';

/** Trades that clients order (instructions, 7): what a booked quote and a drawdown have in common. */

/** What a client specifies for a trade. */
export interface TradeOrder {
  reason: (typeof REASONS)[number];
  reference?: string | undefined;
  external_reference_id?: string | undefined;
  /** The currency account that holds the sell amount. */
  funding_account_id?: number | undefined;
}

/** What the order of a trade refers to. */
export interface Named {
  /** Whether the client already has a trade with this external reference. */
  taken: boolean;
  /** The account, locked. Undefined if none is named, or if the client has none with this number. */
  funds: LockedFunds | undefined;
}

/** Reads what an order refers to, and locks its account. Trades and quotes must be locked earlier. */
export async function readNamed(tx: Transaction, clientId: string, order: Partial<TradeOrder>): Promise<Named> {
  const { external_reference_id: reference, funding_account_id: account } = order;
  const [taken, funds] = await together([
    reference === undefined
      ? false
      : tx
          .query({
            name: 'trade-reference',
            text: 'select from trades where client_id = $1 and external_reference_id = $2',
            values: [clientId, reference],
          })
          .then(({ rowCount }) => rowCount !== 0),
    account === undefined ? undefined : lockFunds(tx, clientId, account),
  ]);
  return { taken, funds };
}

/** @throws Problem currency_account_not_found */
export function requireAccount({ funding_account_id: account }: Partial<TradeOrder>, { funds }: Named): void {
  if (account === undefined || funds) return;
  throw new Problem('currency_account_not_found', {
    field: 'funding_account_id',
    message: 'does not exist for this client',
  });
}

/** @throws Problem already_exists, currency_mismatch */
export function requireFitting({ taken, funds }: Named, sellCurrency: string): void {
  if (taken)
    throw new Problem('already_exists', {
      field: 'external_reference_id',
      message: 'the client has a trade with this reference already',
    });
  if (funds && funds.currency !== sellCurrency)
    throw new Problem('currency_mismatch', {
      field: 'funding_account_id',
      message: `the account is in ${funds.currency}, and ${sellCurrency} is sold`,
    });
}

/** @param needed decimal. @throws Problem insufficient_funds */
export function requireFunds({ funds }: Named, needed: string): void {
  if (!funds) return;
  const decimals = Math.max(decimalsOf(funds.balance), decimalsOf(funds.held));
  const available = new Big(funds.balance).minus(funds.held);
  if (available.gte(needed)) return;
  throw new Problem(
    'insufficient_funds',
    `available: ${available.toFixed(decimals)}, needed: ${needed}, currency: ${funds.currency}`,
  );
}

/** The answer to a client whose trade was booked. */
export interface BookedAnswer {
  trade_id: string;
  bank_account: Awaited<ReturnType<typeof bankAccountFor>>;
  maturity_date: string;
  reference_for_payment: string;
}

/**
 * Writes a judged trade that has an identifier. If it has an account, it also holds its sell amount. Everything goes to the server
 * together, including the new versions of what changed.
 * @param audited what else has changed, before it
 */
export async function writeOrdered(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  { trade, funds, audited = [] }: { trade: NewTrade; funds: LockedFunds | undefined; audited?: readonly AuditEntry[] },
): Promise<{ record: TradeRecord; answer: BookedAnswer }> {
  const { input, values, id = '' } = trade;
  const { client_id: clientId, sell_currency: currency } = input;
  const paidInto = bankAccountFor(tx, clientId, currency);
  tx.meanwhile(paidInto);
  const [record] = await writeTrades(tx, act, apiUrl, [trade], { audited });
  if (!record) throw new TypeError('the trade was not written');
  // Nobody else knows this trade before the commit, so its text can be noted now.
  noteRecord(tx, 'trade', id, () => ({ text: JSON.stringify(record) }));
  lockChanges(tx);
  if (funds)
    openHolds(tx, act.now, [
      {
        ...{ holdId: randomUUID(), clientId, accountId: funds.account_id, currency },
        ...{ amount: values.sellAmount, tradeId: id },
      },
    ]);
  return {
    record,
    answer: {
      trade_id: id,
      bank_account: await paidInto,
      maturity_date: londonTimestamp(values.maturity ?? act.now),
      reference_for_payment: id,
    },
  };
}

import type { Transaction } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';

/**
 * Money in currency accounts that orders hold (docs/operator-interface.md, Holds). The sum of an account's holds is kept with its balance
 * and changes under the lock of its row. So whoever opens or closes a hold locks accounts first, in the order of their numbers, and then
 * holds. Payments and trades are locked before accounts.
 */

/** An account whose row is locked until the transaction ends. Amounts are decimals. */
export interface LockedFunds {
  account_id: number;
  currency: string;
  balance: string;
  held: string;
}

/** Locks a currency account of a client. @returns undefined if the client has no account with this number */
export async function lockFunds(
  tx: Transaction,
  clientId: string,
  accountId: number,
): Promise<LockedFunds | undefined> {
  const { rows } = await tx.query<LockedFunds & Record<string, unknown>>({
    name: 'funds-lock',
    text: `select account_id, currency, balance, held from currency_accounts where client_id = $1 and account_id = $2 for no key update`,
    values: [clientId, accountId],
  });
  return rows[0];
}

/** Money that is to be held, for a payment or for a trade. */
export interface NewHold {
  holdId: string;
  clientId: string;
  accountId: number;
  currency: string;
  /** A decimal. */
  amount: string;
  paymentId?: string;
  tradeId?: string;
}

/** Opens holds on accounts that the transaction has locked. @param holds of one client */
export function openHolds(tx: Transaction, now: Date, holds: readonly NewHold[]): void {
  const [first] = holds;
  if (!first) return;
  tx.later({
    name: 'holds-open',
    text: `with opened as (
        insert into holds (hold_id, client_id, currency_account_id, payment_id, trade_id, amount, currency, opened_at)
        select u.hold_id, $1, u.account_id, u.payment_id, u.trade_id, u.amount, u.currency, $2
        from unnest($3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::numeric[], $8::text[])
          with ordinality as u(hold_id, account_id, payment_id, trade_id, amount, currency, place) order by u.place
        returning currency_account_id, amount)
      update currency_accounts a set held = a.held + o.amount
      from (select currency_account_id, sum(amount) as amount from opened group by 1) o
      where a.client_id = $1 and a.account_id = o.currency_account_id`,
    values: [
      first.clientId,
      now,
      holds.map(({ holdId }) => holdId),
      holds.map(({ accountId }) => accountId),
      holds.map(({ paymentId }) => paymentId ?? null),
      holds.map(({ tradeId }) => tradeId ?? null),
      holds.map(({ amount }) => amount),
      holds.map(({ currency }) => currency),
    ],
  });
}

/** The payment or trade that has a hold, and when something happened to it. */
export interface Holder {
  clientId: string;
  id: string;
  now: Date;
}

/** The column of `holds` that names the holder. */
export type HolderColumn = 'payment_id' | 'trade_id';

/** A holder whose hold ends, and what closes it: the action of the payment, or the status of the trade. */
export interface ClosedHolder extends Holder {
  by: string;
}

/**
 * Closes the open holds of payments or trades with one statement. It locks their accounts in one order for everybody.
 * @returns the holders whose holds were open
 */
export async function closeHolds(
  tx: Transaction,
  { holders, column }: { holders: readonly ClosedHolder[]; column: HolderColumn },
): Promise<Set<string>> {
  if (holders.length === 0) return new Set();
  const { rows } = await tx.query<{ id: string }>(closing(holders, column));
  return new Set(rows.map(({ id }) => id));
}

/** Like `closeHolds`, if nobody needs to know the result. */
export function closeHoldsLater(
  tx: Transaction,
  { holders, column }: { holders: readonly ClosedHolder[]; column: HolderColumn },
): void {
  if (holders.length > 0) tx.later(closing(holders, column));
}

function closing(holders: readonly ClosedHolder[], column: HolderColumn) {
  const list = new RowList(holders, ({ clientId }) => clientId, {
    id: { type: 'text', of: ({ id }) => id },
    by: { type: 'text', of: ({ by }) => by },
    at: { type: 'timestamptz', of: ({ now }) => now },
  });
  const open = `h.client_id = ${list.client} and h.${column} = ${list.at('id')} and h.closed_at is null`;
  // If somebody else closes a hold meanwhile, it is checked again after its account is locked, and left alone.
  return {
    name: list.named(`holds-close-${column}`),
    text: `with locked as materialized (
        select a.client_id, a.account_id from currency_accounts a
        where ${list.belongs('a')}
          and (a.client_id, a.account_id) in (select h.client_id, h.currency_account_id from holds h ${list.after('cross join')} where ${open})
        order by a.account_id for no key update of a),
      closed as (
        update holds h set closed_at = ${list.at('at')}, closed_by = ${list.at('by')} from locked l ${list.after(',')}
        where ${open} and l.client_id = h.client_id and l.account_id = h.currency_account_id
        returning h.client_id, h.currency_account_id, h.${column} as id, h.amount),
      freed as (
        update currency_accounts a set held = a.held - c.amount
        from (select client_id, currency_account_id, sum(amount) as amount from closed group by 1, 2) c
        where ${list.belongs('a')} and a.client_id = c.client_id and a.account_id = c.currency_account_id)
      select id from closed`,
    values: list.values,
  };
}

/** Notes that payments were sent or trades were closed. From then on only the debit is awaited. */
export function executeHolds(
  tx: Transaction,
  { holders, column }: { holders: readonly Holder[]; column: HolderColumn },
): void {
  if (holders.length === 0) return;
  const list = new RowList(holders, ({ clientId }) => clientId, {
    id: { type: 'text', of: ({ id }) => id },
    at: { type: 'timestamptz', of: ({ now }) => now },
  });
  tx.later({
    name: list.named(`holds-execute-${column}`),
    text: `update holds h set executed_at = ${list.at('at')} ${list.after('from')}
      where h.client_id = ${list.client} and h.${column} = ${list.at('id')} and h.closed_at is null`,
    values: list.values,
  });
}

/** A debit that names a payment or a trade, on an account that the transaction has locked. */
export interface NamingDebit {
  clientId: string;
  accountId: number;
  transactionId: string;
  /** A decimal. */
  amount: string;
  paymentId?: string | null | undefined;
  tradeId?: string | null | undefined;
  now: Date;
}

/** Closes the holds of an account that debits cover: those whose payment or trade a debit names, and whose amount is not above it. */
export function closeByDebits(tx: Transaction, debits: readonly NamingDebit[]): void {
  if (debits.length === 0) return;
  tx.later({
    name: 'holds-close-debits',
    text: `with closed as (
        update holds h set closed_at = d.at, closed_by = d.transaction_id
        from (select distinct on (u.client_id, u.account_id, u.payment_id, u.trade_id) u.* from
            unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::numeric[], $6::text[], $7::timestamptz[])
              with ordinality as u(client_id, account_id, payment_id, trade_id, amount, transaction_id, at, place)
            join holds o on o.client_id = u.client_id and o.currency_account_id = u.account_id and o.closed_at is null
              and (o.payment_id = u.payment_id or o.trade_id = u.trade_id) and o.amount <= u.amount
          order by u.client_id, u.account_id, u.payment_id, u.trade_id, u.place) d
        where h.client_id = d.client_id and h.currency_account_id = d.account_id and h.closed_at is null
          and (h.payment_id = d.payment_id or h.trade_id = d.trade_id)
        returning h.client_id, h.currency_account_id, h.amount)
      update currency_accounts a set held = a.held - c.amount
      from (select client_id, currency_account_id, sum(amount) as amount from closed group by 1, 2) c
      where a.client_id = c.client_id and a.account_id = c.currency_account_id`,
    values: [
      debits.map(({ clientId }) => clientId),
      debits.map(({ accountId }) => accountId),
      debits.map(({ paymentId }) => paymentId ?? null),
      debits.map(({ tradeId }) => tradeId ?? null),
      debits.map(({ amount }) => amount),
      debits.map(({ transactionId }) => transactionId),
      debits.map(({ now }) => now),
    ],
  });
}

import { type LockedFunds, lockFunds } from '../../accounts/held-money.ts';
import { permittedOf } from '../../approvals/approvers.ts';
import { type RulesInForce, readRules } from '../../approvals/requirement.ts';
import { keysOf } from '../../beneficiaries/account-key.ts';
import { judgePayees, type Refusals } from '../../beneficiaries/judgement.ts';
import type { OrderedFields } from '../../beneficiaries/order.ts';
import { type Transaction, together } from '../../database/database.ts';
import { type OrderSettings, readSettingsOf } from '../../payments/order-settings.ts';
import { type DayOfOrders, lockDay } from '../../payments/orders/daily-limit.ts';
import type { Orderer } from '../../payments/orders/order.ts';
import { type LockedTrade, lockTrade, type OrderedPayee, readClient, readPayees } from '../../payments/orders/scene.ts';
import { Problem } from '../../values/errors.ts';
import type { REASONS } from '../../values/reasons.ts';
import type { Instruction } from './row.ts';

/**
 * What instructions are paid from: a trade, or a sell currency. In the latter case exchanges sell it, and payments in that currency come
 * from an account.
 */
export interface Source {
  tradeId?: string | undefined;
  sellCurrency?: string | undefined;
  /** The number of a currency account. */
  accountId?: number | undefined;
  reason: (typeof REASONS)[number];
}

/** Everything that is needed to judge instructions, read together. What limits the use of money is locked until the transaction ends. */
export interface InstructionScene {
  trade: LockedTrade | undefined;
  funds: LockedFunds | undefined;
  /** Existing payees, by identifier. */
  payees: Map<string, OrderedPayee>;
  /** What is known about the payees that rows describe, by the index of the row. */
  described: Map<number, Refusals>;
  rules: RulesInForce;
  permitted: Map<string, Set<string>>;
  creatorName: string;
  workflow: string;
  stepUp: boolean;
  /** Whether the orderer has given a code for all of the payments. */
  codeGiven?: boolean;
  fxEnabled: boolean;
  settings: OrderSettings;
  day: DayOfOrders | undefined;
}

/**
 * Reads the scene.
 * @param rows to judge; those with faults are left out
 * @param apart payees that rows describe are neither looked up nor locked
 */
export async function readInstructionScene(
  tx: Transaction,
  now: Date,
  orderer: Orderer,
  { source, rows, apart = false }: { source: Source; rows: readonly Instruction[]; apart?: boolean },
): Promise<InstructionScene> {
  const { clientId, contactId } = orderer;
  const sound = rows.filter(({ faults }) => faults.length === 0);
  const describing = apart
    ? []
    : sound.filter((row): row is Instruction & { payee: OrderedFields } => row.payee !== undefined);
  const codes = [
    ...new Set([...sound.map(({ currency }) => currency), ...(source.sellCurrency ? [source.sellCurrency] : [])]),
  ];
  // The rules come first. Their lock excludes whoever changes permissions, and must be taken before all row locks.
  const [rules, trade, funds, client, judged, permitted, settings, day] = await together([
    readRules(tx, [{ clientId, creatorId: contactId }]),
    source.tradeId === undefined ? undefined : lockTrade(tx, clientId, source.tradeId),
    source.accountId === undefined ? undefined : lockFunds(tx, clientId, source.accountId),
    readClient(tx, orderer),
    judgePayees(
      tx,
      clientId,
      describing.map(({ payee }) => ({ ...keysOf(payee), currency: payee.currency, self: null })),
    ),
    permittedOf(tx, [clientId]),
    readSettingsOf(tx, clientId, codes),
    lockDay(tx, clientId, now),
  ]);
  const described = new Map([...judged].map(([place, refusals]) => [describing[place]?.index as number, refusals]));
  const twins = [...described.values()].flatMap(({ twin }) => twin ?? []);
  const named = sound.flatMap(({ beneficiaryId }) => beneficiaryId ?? []);
  const payees = await readPayees(tx, { clientId, ...(source.tradeId !== undefined && { trade_id: source.tradeId }) }, [
    ...named,
    ...twins,
  ]);
  return { trade, funds, payees, described, rules, permitted, settings, day, ...client };
}

/** @throws Problem trade_not_found, currency_account_not_found */
export function requireSource({ trade, funds }: InstructionScene, { tradeId, accountId }: Source): void {
  if (tradeId !== undefined && !trade)
    throw new Problem('trade_not_found', { field: 'trade_id', message: 'does not exist for this client' });
  if (accountId !== undefined && !funds)
    throw new Problem('currency_account_not_found', {
      field: 'funding_account_id',
      message: 'does not exist for this client',
    });
}

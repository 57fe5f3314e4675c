import type { Act } from '../audit/act.ts';
import { type AuditEntry, audit } from '../audit/record.ts';
import { newIds } from '../database/cells/identifiers.ts';
import { type Columns, copyRows, writeRows } from '../database/copy.ts';
import { type Transaction, together } from '../database/database.ts';
import { creatorFault, findReferences, notOfClient, owned, pairKey } from '../identity/people/tenant.ts';
import { attempt, firstRefusal, Problem } from '../values/errors.ts';
import { present } from '../values/unknown.ts';
import { decimalsOf } from './currency.ts';
import { notifyReadTrades, notifyTrades, type TradeRow, tradeRecord } from './trade.ts';
import { TRADE, type TradeInput, type TradeRecord } from './trade-declaration.ts';
import { type ReadTrade, readTrade, settled, type TradeValues } from './trade-input.ts';
import { ofOnePayment } from './trade-status.ts';

/** A trade that is to be booked. */
export interface NewTrade {
  input: TradeInput;
  /** The caller's identifier; undefined if the service makes one. */
  id: string | undefined;
  values: TradeValues;
  /** The multi payment that it belongs to. */
  multipaymentId?: number;
  /** The trade that it draws down, if its client has it. `judgeTrades` sets this. */
  parent?: { single: boolean } | undefined;
  /** What its client gave with an order. */
  ordered?: OrderedTrade;
}

/** What a client gives with the order of a trade. */
export interface OrderedTrade {
  reason: string | null;
  external_reference_id?: string | null;
  funding_account_id?: number | null;
  quote_id?: string | null;
  value_date?: string | null;
  mass_payment_id?: string | null;
  /** Whether it belongs to a single payment and follows that payment's status. */
  single?: boolean;
}

/** A trade whose values may have a fault. If its client or its contact is wrong too, that is reported first. */
export type WantedTrade = Omit<NewTrade, 'values'> & { values: TradeValues | ReadTrade | Problem };

/**
 * Books a trade and notifies TRADE_STATUS_CHANGE.
 * @throws Problem already_exists, client_not_found, contact_not_found, trade_not_found, invalid_body
 */
export async function createTrade(tx: Transaction, act: Act, apiUrl: string, input: TradeInput): Promise<TradeRecord> {
  const values = attempt(() => readTrade(input, act.now));
  const [trade] = await createTrades(tx, act, apiUrl, [{ input, id: input.trade_id, values }]);
  return trade as TradeRecord;
}

/** Books trades, all or nothing, and notifies them. @throws Problem the first one, as for createTrade */
export async function createTrades(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  wanted: readonly WantedTrade[],
): Promise<TradeRecord[]> {
  // The index alone refuses a trade that draws nothing down.
  const look = wanted.length > 1 || wanted.some(({ input }) => input.parent_trade_id != null);
  const refused = await judgeTrades(tx, wanted);
  const trades = wanted.slice(0, Math.min(wanted.length, ...refused.keys())) as NewTrade[];
  const taken = await newIds(tx, 'trade_id', trades, look);
  const problem = firstRefusal(taken, judgeParents(trades), refused);
  if (problem) throw problem;
  return writeTrades(tx, act, apiUrl, trades);
}

/**
 * Looks up what trades name, and settles what they sell.
 * @returns why trades are refused, by index: their client, their contact, or a field that could not be read
 */
export async function judgeTrades(tx: Transaction, trades: readonly WantedTrade[]): Promise<Map<number, Problem>> {
  const inputs = trades.map(({ input }) => input);
  const drawn = inputs.some(({ parent_trade_id: parent }) => parent != null);
  const sold = [...new Set(inputs.map(({ sell_currency: currency }) => currency))];
  const finding = findReferences<{ parents?: { client_id: string; trade_id: string; single: boolean } }>(tx, inputs, {
    queries: drawn ? { parents: owned('trades', ['trade_id'], ['$2'], ['trade_id', 'single']) } : {},
    values: drawn ? [inputs.map(({ parent_trade_id: parent }) => parent ?? '')] : [],
  });
  const [found, decimals] = await together([finding, decimalsOf(tx, sold)]);
  const parents = new Map(found.parents?.map((each) => [pairKey(each.client_id, each.trade_id), each]));
  const refused = new Map<number, Problem>();
  for (const [index, trade] of trades.entries()) {
    const { client_id: client, parent_trade_id: parent } = trade.input;
    trade.parent = parents.get(pairKey(client, parent ?? ''));
    const { values } = trade;
    if (!(values instanceof Problem))
      trade.values = attempt(() => settled(values, decimals.get(trade.input.sell_currency) ?? 0));
    const problem = creatorFault(found, trade.input) ?? trade.values;
    if (problem instanceof Problem) refused.set(index, problem);
  }
  return refused;
}

/**
 * Refuses drawdowns of trades that the client has neither stored nor placed earlier in the list, and of the trades of single payments. The
 * trades already have identifiers.
 */
export function judgeParents(trades: readonly NewTrade[]): Map<number, Problem> {
  const refused = new Map<number, Problem>();
  const earlier = new Set<string>();
  for (const [index, { id, input, parent }] of trades.entries()) {
    const { client_id: client, parent_trade_id: named } = input;
    if (parent?.single) refused.set(index, ofOnePayment('parent_trade_id'));
    else if (named == null || parent || earlier.has(pairKey(client, named))) {
      if (id !== undefined) earlier.add(pairKey(client, id));
    } else refused.set(index, notOfClient('trade_not_found', 'parent_trade_id'));
  }
  return refused;
}

const columnsAt = (now: Date): Columns<NewTrade> =>
  TRADE.written({
    trade_id: ({ id }) => id,
    trade_type: ({ values }) => values.type,
    rate_symbol: ({ values }) => values.symbol,
    rate: ({ values }) => values.rate,
    buy_amount: ({ values }) => values.buyAmount,
    sell_amount: ({ values }) => values.sellAmount,
    fee_amount: ({ values }) => values.feeAmount,
    order_date: ({ values }) => values.orderDate,
    maturity_date: ({ values }) => values.maturity,
    multipayment_id: ({ multipaymentId }) => multipaymentId,
    source: ({ ordered }) => (ordered ? 'client' : 'institution'),
    reason: ({ ordered }) => ordered?.reason,
    external_reference_id: ({ ordered }) => ordered?.external_reference_id,
    funding_account_id: ({ ordered }) => ordered?.funding_account_id,
    quote_id: ({ ordered }) => ordered?.quote_id,
    value_date: ({ ordered }) => ordered?.value_date,
    mass_payment_id: ({ ordered }) => ordered?.mass_payment_id,
    single: ({ ordered }) => ordered?.single ?? false,
    created_at: () => now,
  });

/** Writes the trades of single payments, which already have identifiers, and notifies them. The caller need not wait for it. */
export async function writeOwnTrades(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  trades: readonly NewTrade[],
): Promise<void> {
  await writeRows(tx, 'trades', columnsAt(act.now), trades);
  audit(
    tx,
    act,
    ...trades.map(({ id, input, ordered }) => ({
      action: 'create' as const,
      entity: 'trade',
      entityId: present(id),
      clientId: input.client_id,
      after: { ...input, ...ordered, trade_id: id, status: 'Created', source: 'client' },
    })),
  );
  await notifyReadTrades(
    tx,
    apiUrl,
    trades.map(({ id }) => ({ tradeId: present(id), now: act.now })),
  );
}

/**
 * Writes trades that were judged and have identifiers, and notifies them in order. The caller need not wait for it.
 * @param options `silent`: nobody is notified; `imported`: they are lines of an import, which writes one audit row for all of them;
 * `audited`: other effects of the same change, before its trades
 * @returns the trades as they are now; none for a silent import
 */
export async function writeTrades(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  trades: readonly NewTrade[],
  {
    silent = false,
    imported = false,
    audited = [],
  }: { silent?: boolean; imported?: boolean; audited?: readonly AuditEntry[] } = {},
): Promise<TradeRecord[]> {
  const columns = columnsAt(act.now);
  if (imported) await copyRows(tx, 'trades', columns, trades);
  if (imported && silent) return [];
  if (!imported) await writeRows(tx, 'trades', columns, trades);
  const records = trades.map((trade) => newRecord(columns, trade, apiUrl));
  if (!imported) audit(tx, act, ...audited, ...records.map(created));
  if (!silent) await notifyTrades(tx, act.now, records);
  return records;
}

/** A new trade in the form that the operator sees. It needs no query, because everything that is stored is known. */
function newRecord(columns: Columns<NewTrade>, trade: NewTrade, apiUrl: string): TradeRecord {
  const stored = Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, value(trade) ?? null]));
  const { beneficiaries = null } = trade.input;
  return tradeRecord({ ...(stored as unknown as TradeRow), hold_released: false, beneficiaries, joined: null }, apiUrl);
}

function created(after: TradeRecord): AuditEntry {
  return { action: 'create', entity: 'trade', entityId: after.trade_id, clientId: after.client_id, after };
}

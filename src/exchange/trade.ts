import { type Db, first, type Transaction } from '../database/database.ts';
import { type List, type ListRequest, listRows } from '../database/rows.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { Exact, exact } from '../values/json.ts';
import { textArray } from '../values/text-array.ts';
import { notifyAll } from '../webhooks/notification.ts';

export const TRADE_STATUSES = [
  'Created',
  'Funds In Partially',
  'Funds In Full',
  'Funds Out Partially Allocated',
  'Funds Out Full Allocated',
  'Closed',
  'Cancelled',
  'Rejected',
] as const;
export type TradeStatus = (typeof TRADE_STATUSES)[number];
export const TRADE_TYPES = ['spot', 'forward', 'window_forward', 'drawdown', 'ndf'] as const;
export type TradeType = (typeof TRADE_TYPES)[number];

interface TradeRow {
  trade_id: string;
  client_id: string;
  contact_id: string;
  parent_trade_id: string | null;
  status: TradeStatus;
  trade_type: TradeType;
  rate_symbol: string;
  rate: string;
  buy_currency: string;
  sell_currency: string;
  buy_amount: string;
  sell_amount: string;
  fee_amount: string | null;
  fee_currency: string | null;
  order_date: string;
  maturity_date: Date | null;
  reference: string | null;
  synthetic: boolean;
  /** As the core sent them. */
  beneficiaries: unknown[] | null;
  /** Otherwise those of its payments, in order; no identifier has a comma. */
  joined: string | null;
}

/** @param tenant SQL of the client */
const columns = (
  tenant: string,
) => `t.trade_id, t.client_id, t.contact_id, t.parent_trade_id, t.status, t.trade_type, t.rate_symbol, t.rate, t.buy_currency,
  t.sell_currency, t.buy_amount, t.sell_amount, t.fee_amount, t.fee_currency, t.order_date, t.maturity_date, t.reference, t.synthetic,
  t.beneficiaries, case when t.beneficiaries is null then array_to_string(array(select b.beneficiary_id from trade_beneficiaries b
    where b.client_id = ${tenant} and b.trade_id = t.trade_id order by b.beneficiary_id limit 1000), ',') end as joined`;
const COLUMNS = columns('t.client_id');

/** A trade as events carry it (the service interface, BookedTrade), with the links made from the public address. */
export type BookedTrade = ReturnType<typeof shown>;

function shown(row: TradeRow, apiUrl: string) {
  const receipt = new URLSearchParams({ type: 'tr', id: row.trade_id, client_id: row.client_id });
  return {
    trade_id: row.trade_id,
    parent_trade_id: row.parent_trade_id,
    status: row.status,
    trade_type: row.trade_type,
    rate_symbol: row.rate_symbol,
    rate: new Exact(row.rate),
    buy_currency: row.buy_currency,
    sell_currency: row.sell_currency,
    buy_amount: new Exact(row.buy_amount),
    sell_amount: new Exact(row.sell_amount),
    fee_amount: exact(row.fee_amount),
    fee_currency: row.fee_currency,
    order_date: row.order_date,
    maturity_date: row.maturity_date && londonTimestamp(row.maturity_date),
    reference: row.reference,
    synthetic: row.synthetic,
    trade_receipt: `${apiUrl}/documents?${receipt}`,
    beneficiaries: row.beneficiaries ?? (row.joined ? row.joined.split(',') : []),
  };
}

/** The operator's view: the booked trade, and whose it is. */
export type TradeRecord = BookedTrade & Pick<TradeRow, 'client_id' | 'contact_id'>;

function record(row: TradeRow, apiUrl: string): TradeRecord {
  return { ...shown(row, apiUrl), client_id: row.client_id, contact_id: row.contact_id };
}

/** @throws Problem trade_not_found */
export async function findTrade(db: Db, apiUrl: string, tradeId: string): Promise<TradeRecord> {
  const row = first(await db.query<TradeRow>(`select ${COLUMNS} from trades t where t.trade_id = $1`, [tradeId]));
  return row ? record(row, apiUrl) : noTrade();
}

/** Trades as the operator reads them, in any order. */
export async function readTrades(db: Db, apiUrl: string, ids: readonly string[]): Promise<TradeRecord[]> {
  const { rows } = await db.query<TradeRow>({
    name: 'trade-records',
    text: `select ${COLUMNS} from trades t where t.trade_id = any($1)`,
    values: [textArray(ids)],
  });
  return rows.map((row) => record(row, apiUrl));
}

/** A page of trades in the order of their identifiers. */
export async function listTrades(
  db: Db,
  apiUrl: string,
  { status, ...request }: ListRequest & { status?: TradeStatus | undefined },
): Promise<List<TradeRecord>> {
  const filters = [['t.status = ?', status]] as const;
  const list = { select: COLUMNS, from: 'trades t', client: 't.client_id', order: 't.trade_id', filters };
  const { rows, total } = await listRows<TradeRow>(db, list, request);
  return { rows: rows.map((row) => record(row, apiUrl)), total };
}

/** A page of a client's trades, the highest identifier first. @param wanted `tradeId`: at most that one */
export async function listClientTrades(
  db: Db,
  apiUrl: string,
  { clientId, tradeId, ...page }: { clientId: string; tradeId?: string | undefined; page: number; pageSize: number },
): Promise<List<TradeRecord>> {
  const filters = [['t.trade_id = ?', tradeId]] as const;
  const list = { select: columns('$1'), from: 'trades t', client: 't.client_id', order: 't.trade_id desc', filters };
  const { rows, total } = await listRows<TradeRow>(db, list, { ...page, clientId });
  return { rows: rows.map((row) => record(row, apiUrl)), total };
}

/** Writes a TRADE_STATUS_CHANGE of each trade as it is now. */
export async function notifyTrades(tx: Transaction, now: Date, trades: readonly TradeRecord[]): Promise<void> {
  await notifyAll(
    tx,
    trades.map(({ client_id: clientId, contact_id: _contact, ...booked }) => {
      return { clientId, type: 'TRADE_STATUS_CHANGE', body: JSON.stringify({ data: [booked] }), now };
    }),
  );
}

/** @throws Problem trade_not_found, always */
export function noTrade(): never {
  throw new Problem('trade_not_found', { field: 'trade_id', message: 'does not exist' });
}

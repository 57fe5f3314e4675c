import { unionOfCells } from '../database/cells/union.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { type List, type ListRequest, listRows } from '../database/rows.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { Exact, exact } from '../values/json.ts';
import { textArray } from '../values/text-array.ts';
import { notifyAll, type WebhookEvent } from '../webhooks/notification.ts';
import { bookedTrade, TRADE, type TradeRecord, type TradeStatus } from './trade-declaration.ts';

/** A trade as it is stored. */
export type TradeRow = Omit<
  TradeRecord,
  'rate' | 'buy_amount' | 'sell_amount' | 'fee_amount' | 'maturity_date' | 'trade_receipt' | 'beneficiaries'
> & {
  rate: string;
  buy_amount: string;
  sell_amount: string;
  fee_amount: string | null;
  maturity_date: Date | null;
  /** The list that the core sent. */
  beneficiaries: unknown[] | null;
  /** The beneficiaries of its payments, in order, used if the core sent none. No identifier contains a comma. */
  joined: string | null;
};

/** @param tenant SQL that gives the client */
export const tradeColumns = (tenant: string) => `${TRADE.selectFrom('t', 'trade_receipt')},
  case when t.beneficiaries is null then array_to_string(array(select b.beneficiary_id from trade_beneficiaries b
    where b.client_id = ${tenant} and b.trade_id = t.trade_id order by b.beneficiary_id limit 1000), ',') end as joined`;
const COLUMNS = tradeColumns('t.client_id');

const FIELDS = TRADE.names;

/** A trade in the form that the operator sees, with links that start with the public address. */
export function tradeRecord(row: TradeRow, apiUrl: string): TradeRecord {
  const receipt = new URLSearchParams({ type: 'tr', id: row.trade_id, client_id: row.client_id });
  return TRADE.show(FIELDS, {
    ...row,
    rate: new Exact(row.rate),
    buy_amount: new Exact(row.buy_amount),
    sell_amount: new Exact(row.sell_amount),
    fee_amount: exact(row.fee_amount),
    maturity_date: row.maturity_date && londonTimestamp(row.maturity_date),
    trade_receipt: `${apiUrl}/documents?${receipt}`,
    beneficiaries: row.beneficiaries ?? (row.joined ? row.joined.split(',') : []),
  });
}

/** @throws Problem trade_not_found */
export async function findTrade(db: Db, apiUrl: string, tradeId: string): Promise<TradeRecord> {
  const row = first(await db.query<TradeRow>(`select ${COLUMNS} from trades t where t.trade_id = $1`, [tradeId]));
  return row ? tradeRecord(row, apiUrl) : noTrade();
}

/** Trades in the form that the operator reads, in any order. */
export async function readTrades(db: Db, apiUrl: string, ids: readonly string[]): Promise<TradeRecord[]> {
  const text = `select ${COLUMNS} from trades t where t.trade_id = any($1)`;
  const values = [textArray(ids)];
  const union = unionOfCells(db, 'trades')?.(text);
  const { rows } = await db.query<TradeRow>(union ? { text: union, values } : { name: 'trade-records', text, values });
  return rows.map((row) => tradeRecord(row, apiUrl));
}

interface TradeListRequest extends ListRequest {
  status?: TradeStatus | undefined;
  source?: string | undefined;
  order?: 'asc' | 'desc' | undefined;
}

/** A page of trades by their identifiers. */
export async function listTrades(
  db: Db,
  apiUrl: string,
  { status, source, order = 'asc', ...request }: TradeListRequest,
): Promise<List<TradeRecord>> {
  const filters = [
    ['t.status = ?', status],
    ['t.source = ?', source],
  ] as const;
  const list = { select: COLUMNS, from: 'trades t', client: 't.client_id', order: `t.trade_id ${order}`, filters };
  const { rows, total } = await listRows<TradeRow>(db, list, request);
  return { rows: rows.map((row) => tradeRecord(row, apiUrl)), total };
}

const NAMED = `select trade_id from trades where trade_id = $1
  union select trade_id from trades where client_id = any(array(select client_id from clients)) and external_reference_id = $1
  order by 1 limit $2`;

/** The trades of all clients that a text names: by identifier, or by the client's own reference. */
export async function tradesNamed(db: Db, apiUrl: string, text: string, limit: number): Promise<TradeRecord[]> {
  const named = unionOfCells(db, 'trades')?.(NAMED) ?? NAMED;
  const { rows } = await db.query<{ trade_id: string }>(named, [text, limit]);
  const ids = rows.slice(0, limit).map(({ trade_id: id }) => id);
  return ids.length > 0 ? readTrades(db, apiUrl, ids) : [];
}

/** A trade whose status is notified. */
export interface TradeNews {
  tradeId: string;
  /** When it changed. */
  now: Date;
  /** The trace span that it belongs to; by default, the current one. */
  traceparent?: string | null | undefined;
}

/** Writes a TRADE_STATUS_CHANGE of each trade as it is now. */
export async function notifyTrades(tx: Transaction, now: Date, trades: readonly TradeRecord[]): Promise<void> {
  await notifyAll(
    tx,
    trades.map((trade) => eventOf(trade, { now })),
  );
}

/** Like `notifyTrades`, but reads the trades first. It runs alongside later statements. */
export async function notifyReadTrades(tx: Transaction, apiUrl: string, news: readonly TradeNews[]): Promise<void> {
  if (news.length === 0) return;
  const ids = news.map(({ tradeId }) => tradeId);
  const events = readTrades(tx, apiUrl, ids).then((read) => {
    const records = new Map(read.map((record) => [record.trade_id, record]));
    return news.map((each) => eventOf(records.get(each.tradeId) ?? noTrade(), each));
  });
  await notifyAll(tx, events);
}

function eventOf(trade: TradeRecord, { now, traceparent }: Omit<TradeNews, 'tradeId'>): WebhookEvent {
  const body = JSON.stringify({ data: [bookedTrade(trade)] });
  return { clientId: trade.client_id, type: 'TRADE_STATUS_CHANGE', body, now, traceparent };
}

/** @throws Problem trade_not_found, always */
export function noTrade(): never {
  throw new Problem('trade_not_found', { field: 'trade_id', message: 'does not exist' });
}

import { type Db, first } from '../database/database.ts';
import { type List, type ListRequest, whereOf } from '../database/rows.ts';
import { plain, sum } from '../values/money.ts';
import { zerosOf } from './currency.ts';
import { allocatedOf } from './drawdown.ts';
import { noTrade, type TradeRow, tradeColumns, tradeRecord } from './trade.ts';
import {
  type BookedTrade,
  bookedTrade,
  TRADE_STATUSES,
  TRADE_TYPES,
  type TradeRecord,
  type TradeStatus,
} from './trade-declaration.ts';

/** The trades of a client in the form that it sees: what events carry, and what its pages show in addition. */

/** A filter for the trades of a client. */
export interface TradeFilters {
  tradeId?: string | undefined;
  types?: readonly string[] | undefined;
  statuses?: readonly string[] | undefined;
  parentId?: string | undefined;
  buyCurrency?: string | undefined;
  externalReferenceId?: string | undefined;
  massPaymentId?: string | undefined;
}

/** A page of a client's trades, in order of insertion. */
export async function searchTrades(
  db: Db,
  apiUrl: string,
  wanted: TradeFilters,
  request: ListRequest & { clientId: string },
): Promise<List<BookedTrade>> {
  const { rows, total } = await pageOfTrades<TradeRow>(db, { select: tradeColumns('$1'), wanted, request });
  return { rows: rows.map((row) => bookedTrade(tradeRecord(row, apiUrl))), total };
}

/** Describes a statement for a page of a client's trades. */
export interface TradePage {
  /** SQL of the columns. The statement reads `trades t` of the client $1. */
  select: string;
  wanted: TradeFilters;
  request: ListRequest & { clientId: string };
  descending?: boolean;
}

/**
 * The statement for a page of trades: the columns of each, and the total number. The number of trades by type, status and bought currency
 * is kept up to date (migrations/0007_accounts.sql). Further filters narrow the trades down with a single index. Words of closed lists and
 * the page are part of the text, because the planner knows no parameter values and chooses the index by the text.
 */
export function tradesStatement({ select, wanted, request, descending = false }: TradePage): {
  text: string;
  values: unknown[];
} {
  const { types, statuses, buyCurrency, ...named } = wanted;
  const { where: filters, values } = whereOf([
    ['t.client_id = ?', request.clientId],
    ['t.buy_currency = ?', buyCurrency],
    ['t.trade_id = ?', named.tradeId],
    ['t.parent_trade_id = ?', named.parentId],
    ['t.external_reference_id = ?', named.externalReferenceId],
    ['t.mass_payment_id = ?::uuid', named.massPaymentId],
  ]);
  const where = `${filters}${among('trade_type', TRADE_TYPES, types)}${among('status', TRADE_STATUSES, statuses)}`;
  const kept = (table: string) => `(select coalesce(sum(t.n), 0) from ${table} t where ${where})`;
  const total = Object.values(named).some((value) => value !== undefined)
    ? `(select count(*) from trades t where ${where})`
    : `(${kept('trade_totals')} + ${kept('trade_total_deltas')})::bigint`;
  const [limit, offset] = [request.pageSize, (request.page - 1) * request.pageSize];
  const order = descending ? 'id desc' : 'id';
  // Wide rows are read only for the page. For a page after the last one, nothing is read.
  return {
    text: `with found as materialized (select ${total} as total)
      select found.total, ${select} from found left join lateral (
        select t.id from trades t where ${where} and found.total > ${offset}
        order by t.${order} limit ${limit} offset ${offset}) k on true left join trades t on t.client_id = $1 and t.id = k.id
      order by k.${order}`,
    values,
  };
}

/** A condition for a column that holds one of a closed list of words. */
function among(column: string, known: readonly string[], wanted: readonly string[] | undefined): string {
  if (!wanted) return '';
  const words = known.filter((word) => wanted.includes(word)).map((word) => `'${word}'`);
  return ` and t.${column} in (${words.join(', ')})`;
}

async function pageOfTrades<Row extends { trade_id: string }>(db: Db, page: TradePage): Promise<List<Row>> {
  const { text, values } = tradesStatement(page);
  const { rows } = await db.query<Row & { total: number }>(text, values);
  return { rows: rows.filter(({ trade_id: id }) => id !== null), total: rows[0]?.total ?? 0 };
}

/** One trade of a client. @throws Problem trade_not_found */
export async function findClientTrade(
  db: Db,
  apiUrl: string,
  { clientId, tradeId }: { clientId: string; tradeId: string },
): Promise<BookedTrade> {
  const row = first(
    await db.query<TradeRow>({
      name: 'trade-of-client',
      text: `select ${tradeColumns('$1')} from trades t where t.client_id = $1 and t.trade_id = $2`,
      values: [clientId, tradeId],
    }),
  );
  return row ? bookedTrade(tradeRecord(row, apiUrl)) : noTrade();
}

/** What is left of a trade, and what is held for it, as decimal texts. */
export interface TradeFunds {
  trade_id: string;
  status: TradeStatus;
  buy_currency: string;
  buy_amount: string;
  allocated_amount: string;
  unallocated_amount: string;
  sell_currency: string;
  sell_amount: string;
  held_amount: string;
}

/** @throws Problem trade_not_found */
export async function readTradeFunds(
  db: Db,
  { clientId, tradeId }: { clientId: string; tradeId: string },
): Promise<TradeFunds> {
  const found = first(
    await db.query<TradeFunds & Record<string, unknown>>({
      name: 'trade-funds',
      text: `select t.trade_id, t.status, t.buy_currency, t.buy_amount, a.allocated as allocated_amount,
          t.buy_amount - a.allocated as unallocated_amount, t.sell_currency, t.sell_amount,
          coalesce((select sum(h.amount) from holds h
            where h.client_id = $1 and h.trade_id = $2 and h.closed_at is null), 0) as held_amount
        from trades t cross join lateral (select ${allocatedOf('t')} as allocated) a
        where t.client_id = $1 and t.trade_id = $2`,
      values: [clientId, tradeId],
    }),
  );
  if (!found) return noTrade();
  const { buy_currency: bought, sell_currency: sold } = found;
  const zeros = await zerosOf(db, [bought, sold]);
  const computed = (amount: string, currency: string) => sum(plain(amount), zeros.get(currency) ?? '0');
  return {
    ...found,
    allocated_amount: computed(found.allocated_amount, bought),
    unallocated_amount: computed(found.unallocated_amount, bought),
    held_amount: computed(found.held_amount, sold),
  };
}

/** A trade in the form that the pages of its client show. */
export interface PageTrade extends TradeRecord {
  /** Whether it belongs to a single payment from an account, and nothing else uses it. */
  single: boolean;
  /** What its live payments and drawdowns leave of it. A decimal, which may be below 0. */
  unallocated_amount: string;
}
type PageTradeRow = TradeRow & Pick<PageTrade, 'single' | 'unallocated_amount'>;

/** A page of a client's trades, the newest first. */
export async function listPageTrades(
  db: Db,
  apiUrl: string,
  wanted: Pick<TradeFilters, 'tradeId' | 'statuses'>,
  request: ListRequest & { clientId: string },
): Promise<List<PageTrade>> {
  const select = `${tradeColumns('$1')}, t.single, t.buy_amount - ${allocatedOf('t')} as unallocated_amount`;
  const { rows, total } = await pageOfTrades<PageTradeRow>(db, { select, wanted, request, descending: true });
  const shown = rows.map(({ single, unallocated_amount, ...row }) => ({
    ...tradeRecord(row, apiUrl),
    single,
    unallocated_amount,
  }));
  return { rows: shown, total };
}

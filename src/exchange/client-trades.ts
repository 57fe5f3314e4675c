import { type Db, first } from '../database/database.ts';
import { type List, type ListRequest, listRows } from '../database/rows.ts';
import { allocatedOf } from './drawdown.ts';
import { noTrade, type TradeRow, tradeColumns, tradeRecord } from './trade.ts';
import { type BookedTrade, bookedTrade, type TradeRecord, type TradeStatus } from './trade-declaration.ts';

/** The trades of a client, as it sees them: what events carry; and what its pages show besides. */

/** Which trades of a client are meant. */
export interface TradeFilters {
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
  { types, statuses, ...wanted }: TradeFilters,
  request: ListRequest & { clientId: string },
): Promise<List<BookedTrade>> {
  const filters = [
    ['t.trade_type = any(?::text[])', types],
    ['t.status = any(?::text[])', statuses],
    ['t.parent_trade_id = ?', wanted.parentId],
    ['t.buy_currency = ?', wanted.buyCurrency],
    ['t.external_reference_id = ?', wanted.externalReferenceId],
    ['t.mass_payment_id = ?::uuid', wanted.massPaymentId],
  ] as const;
  const list = { select: tradeColumns('$1'), from: 'trades t', client: 't.client_id', order: 't.id', filters };
  const { rows, total } = await listRows<TradeRow>(db, list, request);
  return { rows: rows.map((row) => bookedTrade(tradeRecord(row, apiUrl))), total };
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

/** What is left of a trade, and what is held for it: amounts are decimal texts. */
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
  return found ?? noTrade();
}

/** A trade as the pages of its client show it. */
export interface PageTrade extends TradeRecord {
  /** It belongs to one payment from an account, and nothing else uses it. */
  single: boolean;
  /** What its live payments and drawdowns leave of it; it may be below 0, a decimal. */
  unallocated_amount: string;
}
type PageTradeRow = TradeRow & Pick<PageTrade, 'single' | 'unallocated_amount'>;

/** A page of a client's trades, the newest first. @param wanted `tradeId`: at most that one */
export async function listPageTrades(
  db: Db,
  apiUrl: string,
  { tradeId, statuses }: { tradeId?: string | undefined; statuses?: readonly string[] | undefined },
  request: ListRequest & { clientId: string },
): Promise<List<PageTrade>> {
  const list = {
    select: `${tradeColumns('$1')}, t.single, t.buy_amount - ${allocatedOf('t')} as unallocated_amount`,
    ...{ from: 'trades t', client: 't.client_id', order: 't.id desc' },
    filters: [
      ['t.trade_id = ?', tradeId],
      ['t.status = any(?::text[])', statuses],
    ] as const,
  };
  const { rows, total } = await listRows<PageTradeRow>(db, list, request);
  const shown = rows.map(({ single, unallocated_amount, ...row }) => ({
    ...tradeRecord(row, apiUrl),
    single,
    unallocated_amount,
  }));
  return { rows: shown, total };
}

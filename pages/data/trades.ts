import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { BankAccount, BookedTrade, Payment, Trade, TradeFunds, TradeOrder } from '../../sdk/src/generated/api.ts';
import type { PageTrade } from '../../src/exchange/client-trades.ts';
import { amountField } from './amount.ts';
import { call } from './call.ts';
import { callClient } from './client-api.ts';
import { liveKey } from './payments.ts';

export type { BankAccount, BookedTrade };

/** A trade as it arrives: amounts are numbers that keep their digits. */
export type ListedTrade = Trade & Omit<PageTrade, keyof Trade>;

/** Trades per page of the list. */
export const TRADES_SHOWN = 25;

export interface Trades {
  rows: ListedTrade[];
  total: number;
}

/** A page of the trades, newest first. @param wanted empty texts mean all */
export const tradesQuery = (clientId: string, wanted: { status: string; text: string; page: number }) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'trades', wanted],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Trades> => {
      const { status, text, page } = wanted;
      const query = { client_id: clientId, status, trade_id: text, page, page_size: TRADES_SHOWN };
      const { body, total = 0 } = await call<ListedTrade[]>('GET', '/app/data/trades', { query, signal });
      return { rows: body, total };
    },
  });

/** Everything that the page of a trade shows. */
export interface TradeView {
  trade: ListedTrade;
  funds: TradeFunds;
  bank_account: BankAccount | null;
}

export const tradeQuery = (clientId: string, id: string) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'trade', id],
    queryFn: async ({ signal }): Promise<TradeView> => {
      const query = { client_id: clientId };
      return (await call<TradeView>('GET', `/app/data/trades/${encodeURIComponent(id)}`, { query, signal })).body;
    },
  });

/** Drawdowns per page. */
export const DRAWDOWNS_SHOWN = 10;

/** A page of the drawdowns of a trade, in the order of their booking. */
export const drawdownsQuery = (clientId: string, id: string, page: number) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'drawdowns', id, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<{ rows: Trade[]; total: number }> => {
      const query = { parent_trade_id: id, page, page_size: DRAWDOWNS_SHOWN };
      const { body, total = 0 } = await callClient('GET /trades', clientId, { query, signal });
      return { rows: body, total };
    },
  });

/** Payments per page. */
export const TRADE_PAYMENTS_SHOWN = 20;

/** A page of the payments of a trade, newest first. */
export const tradePaymentsQuery = (clientId: string, id: string, page: number) =>
  queryOptions({
    queryKey: [...liveKey(clientId), 'trade-payments', id, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<{ rows: Payment[]; total: number }> => {
      const query = { trade_id: id, page, page_size: TRADE_PAYMENTS_SHOWN, order: 'desc' as const };
      const { body, total = 0 } = await callClient('GET /payments', clientId, { query, signal });
      return { rows: body, total };
    },
  });

/** What a person gives when ordering a trade. */
export interface Ordered {
  reason: string;
  /** The number of the account to debit; empty if money is paid in. */
  account: string;
}

/** The fields that every order of a trade shares. The service refuses a reason that was not chosen. */
function orderBody({ reason, account }: Ordered): TradeOrder {
  return {
    ...(reason === '' ? {} : { reason }),
    ...(account === '' ? {} : { funding_account_id: Number(account) }),
  } as TradeOrder;
}

/** Books a quote. It can be retried if no answer came: the service books a quote once. @throws CallError */
export async function bookQuote(clientId: string, quoteId: string, ordered: Ordered): Promise<BookedTrade> {
  const body = orderBody(ordered);
  const headers = { 'idempotency-key': quoteId };
  return (await callClient('POST /trades', clientId, { query: { quote_id: quoteId }, body, headers })).body;
}

interface Drawdown extends Ordered {
  /** Plain notation. */
  amount: string;
  /** Empty means as early as possible. */
  valueDate: string;
}

/**
 * Draws down a window forward.
 * @param key the same for every retry.
 * @throws CallError
 */
export async function drawDown(clientId: string, id: string, drawdown: Drawdown, key: string): Promise<BookedTrade> {
  const { amount, valueDate } = drawdown;
  const body = {
    ...amountField('buy_amount', amount),
    ...orderBody(drawdown),
    ...(valueDate === '' ? {} : { value_date: valueDate }),
  };
  const given = { path: { trade_id: id }, body, headers: { 'idempotency-key': key } };
  return (await callClient('POST /trades/{trade_id}/drawdowns', clientId, given)).body;
}

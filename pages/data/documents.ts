import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Payment, Trade } from '../../sdk/src/generated/api.ts';
import { type Answer, call } from './call.ts';
import { callClient } from './client-api.ts';

/** What to fetch: a page, counted from 1, of the search results. */
export interface Wanted {
  /** An identifier or a reference; empty means everything. */
  text: string;
  page: number;
  size: number;
}

/** A page of rows, and the total. */
export interface Page<Row> {
  rows: Row[];
  total: number;
}

/** Payments by their identifier or reference, newest first. */
export const paymentsQuery = (clientId: string, { text, page, size }: Wanted) =>
  queryOptions({
    queryKey: ['document-payments', clientId, text, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Page<Payment>> => {
      const search = (filter: { payment_ids?: string; reference?: string }) =>
        callClient('GET /payments', clientId, {
          query: { ...filter, page, page_size: size, order: 'desc' },
          signal,
        });
      if (text === '') return listOf(await search({}));
      // An identifier has no comma and no space; any other text can only be a reference.
      const byId = /^[\w.-]{1,64}$/.test(text) ? listOf(await search({ payment_ids: text })) : undefined;
      return byId && byId.total > 0 ? byId : listOf(await search({ reference: text }));
    },
  });

/** Trades by their identifier, newest first. */
export const tradesQuery = (clientId: string, { text, page, size }: Wanted) =>
  queryOptions({
    queryKey: ['document-trades', clientId, text, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Page<Trade>> => {
      const query = { client_id: clientId, trade_id: text, page, page_size: size };
      return listOf(await call<Trade[]>('GET', '/app/data/trades', { query, signal }));
    },
  });

function listOf<Row>({ body, total = 0 }: Answer<Row[]>): Page<Row> {
  return { rows: body, total };
}

import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Payment, Trade } from '../../sdk/src/generated/api.ts';
import { type Answer, call } from './call.ts';
import { callClient } from './client-api.ts';

/** What is asked for: a page, numbered from 1, of what a text finds. */
export interface Wanted {
  /** An identifier or a reference; empty: everything. */
  text: string;
  page: number;
  size: number;
}

/** A page of rows, and how many there are in all. */
export interface Page<Row> {
  rows: Row[];
  total: number;
}

/** Payments by their identifier or reference, the newest first. */
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
      // An identifier has no comma and no space; whatever else it may be, it may be a reference.
      const byId = /^[\w.-]{1,64}$/.test(text) ? listOf(await search({ payment_ids: text })) : undefined;
      return byId && byId.total > 0 ? byId : listOf(await search({ reference: text }));
    },
  });

/** Trades by their identifier, the newest first. */
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

import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../sdk/src/generated/api.ts';
import { call } from './call.ts';
import { callClient } from './client-api.ts';

export type LoggedRequest = Operations['GET /sandbox/requests']['response'][number];
export type SandboxEvent = Operations['POST /sandbox/trigger']['body']['event'];
export type Destination = NonNullable<
  NonNullable<Operations['POST /sandbox/payments/{payment_id}/advance']['body']>['to']
>;

/** How often the log of requests is read again. */
const LOG_MS = 4_000;

/** What can be triggered, and where a payment can be advanced to. */
export const choicesQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['sandbox-choices', clientId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      (
        await call<{ events: SandboxEvent[]; destinations: Destination[] }>('GET', '/app/data/sandbox', {
          query: { client_id: clientId },
          signal,
        })
      ).body,
  });

const requestsKey = (clientId: string) => ['requests', clientId];

/** A page of the client's requests to the API, the newest first. Reading them leaves no trace in them. */
export const requestsQuery = (clientId: string, wanted: { status: string; page: number; page_size: number }) =>
  queryOptions({
    queryKey: [...requestsKey(clientId), wanted],
    placeholderData: keepPreviousData,
    refetchInterval: LOG_MS,
    queryFn: async ({ signal }) => {
      const { status, ...paging } = wanted;
      const query = status === '' ? paging : { ...paging, status };
      const { body, total = 0 } = await callClient('GET /sandbox/requests', clientId, { query, signal });
      return { rows: body, total };
    },
  });

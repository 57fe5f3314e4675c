import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../sdk/src/generated/api.ts';
import { call } from './call.ts';

export type LoggedRequest = Operations['GET /sandbox/requests']['response'][number];
export type SandboxEvent = Operations['POST /sandbox/trigger']['body']['event'];
export type Destination = NonNullable<
  NonNullable<Operations['POST /sandbox/payments/{payment_id}/advance']['body']>['to']
>;

/** How often the request log is refreshed. */
const LOG_MS = 4_000;

/** The events that can be triggered, and the states that a payment can be advanced to. */
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

/** The requests to fetch. `pages` includes the requests of these pages. */
export interface WantedRequests {
  status: string;
  pages: boolean;
  page: number;
  page_size: number;
}

/** A page of the client's requests to the API, newest first. Reading the log does not add to it. */
export const requestsQuery = (clientId: string, wanted: WantedRequests) =>
  queryOptions({
    queryKey: [...requestsKey(clientId), wanted],
    placeholderData: keepPreviousData,
    refetchInterval: LOG_MS,
    queryFn: async ({ signal }) => {
      const query = { client_id: clientId, ...wanted };
      const { body, total = 0 } = await call<LoggedRequest[]>('GET', '/app/data/requests', { query, signal });
      return { rows: body, total };
    },
  });

/** The parts of an OpenAPI description that are read: the path of each operation, and the types of its parameters. */
export interface Description {
  paths: Record<string, Record<string, { parameters?: { name: string; in: string; schema?: { type?: unknown } }[] }>>;
}

/** The description of the API. */
export const descriptionQuery = queryOptions({
  queryKey: ['description'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }) => (await call<Description>('GET', '/openapi.json', { signal })).body,
});

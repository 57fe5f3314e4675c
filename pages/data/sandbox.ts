import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../sdk/src/generated/api.ts';
import { call } from './call.ts';

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

/** Requests that are asked for. `pages`: those of these pages too. */
export interface WantedRequests {
  status: string;
  pages: boolean;
  page: number;
  page_size: number;
}

/** A page of the client's requests to the API, the newest first. Reading them leaves no trace in them. */
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

/** As far as a description of the API (OpenAPI) is read: what each operation's address looks like, and the types of its parameters. */
export interface Description {
  paths: Record<string, Record<string, { parameters?: { name: string; in: string; schema?: { type?: unknown } }[] }>>;
}

/** How the API is described. */
export const descriptionQuery = queryOptions({
  queryKey: ['description'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }) => (await call<Description>('GET', '/openapi.json', { signal })).body,
});

import { queryOptions } from '@tanstack/react-query';
import type { Currency } from '../../sdk/src/generated/api.ts';
import { callClient } from './client-api.ts';

export type { Currency };

/** The currencies that the client may use. */
export const currenciesQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['currencies', clientId],
    queryFn: async ({ signal }) => (await callClient('GET /currencies', clientId, { query: {}, signal })).body,
  });

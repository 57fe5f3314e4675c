import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { CallError } from './call-error.ts';

/** How often a call that no answer came to is repeated by itself. */
const MAX_RETRIES = 2;
/** What was just fetched is shown again without asking. */
const FRESH_MS = 2_000;

/** The first part of a session's query key. */
export const SESSION = 'session';

/** What the page holds of the service's data. A refusal is not asked again; a lost answer is. */
export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({ onError: lookAtSession }),
  queryCache: new QueryCache({ onError: (error, { queryKey }) => queryKey[0] !== SESSION && lookAtSession(error) }),
  defaultOptions: {
    // A device's own idea of being offline pauses nothing: the answer that does not come is what counts.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: FRESH_MS,
      retry: (count, error) => count < MAX_RETRIES && error instanceof CallError && error.status === 0,
    },
  },
});

/** A refused call may be the first that tells of the session's end: the page looks at once, and not at its next turn. */
function lookAtSession(error: unknown): void {
  if (error instanceof CallError && error.status === 401) void queryClient.refetchQueries({ queryKey: [SESSION] });
}

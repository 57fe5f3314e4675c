import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { CallError } from './call-error.ts';

/** How often an unanswered call is retried automatically. */
const MAX_RETRIES = 2;
/** Data that was just fetched is shown again without a new request. */
const FRESH_MS = 2_000;

/** The first part of a session's query key. */
export const SESSION = 'session';

// A pressed button is shown as such before the next press arrives, so that a double click sends one call.
notifyManager.setScheduler(queueMicrotask);

/** The page's cache of the service's data. A refused call is not retried; an unanswered one is. */
export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({ onError: lookAtSession }),
  queryCache: new QueryCache({ onError: (error, { queryKey }) => queryKey[0] !== SESSION && lookAtSession(error) }),
  defaultOptions: {
    // A device that believes it is offline pauses nothing: only a missing answer counts.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: FRESH_MS,
      retry: (count, error) => count < MAX_RETRIES && error instanceof CallError && error.status === 0,
    },
  },
});

/** A refused call may be the first sign that the session has ended, so the page checks at once, not at its next poll. */
function lookAtSession(error: unknown): void {
  if (error instanceof CallError && error.status === 401) void queryClient.refetchQueries({ queryKey: [SESSION] });
}

import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { SessionAnswer } from '../../src/http/app/session-answer.ts';
import { call } from './call.ts';

/** The person, its clients, and how long the session lasts. Asking is no activity. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => (await call<SessionAnswer>('GET', '/app/session', { signal })).body,
  staleTime: Number.POSITIVE_INFINITY,
});

/** The session, inside the application's frame, which has fetched it. */
export function useSession(): SessionAnswer {
  return useSuspenseQuery(sessionQuery).data;
}

/** Signs out, and leaves nothing of the person behind: the service leads on to the sign-in. */
export async function signOut(): Promise<void> {
  await call('DELETE', '/app/session').catch(() => undefined);
  location.replace('/app');
}

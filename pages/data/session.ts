import { useSuspenseQuery } from '@tanstack/react-query';
import type { SessionAnswer } from '../../src/http/app/session-answer.ts';
import { call } from './call.ts';
import { queryClient, SESSION } from './queries.ts';
import { type SessionTimes, sessionQuery } from './session-life.ts';

/** The person who is signed in, without the times, which change with every answer. */
export type SignedIn = Omit<SessionAnswer, keyof SessionTimes>;

/** The person who is signed in to the clients' pages. The frame fetched it, and refreshes it every few seconds. */
export function useSession(): SignedIn {
  return useSuspenseQuery({ ...sessionQuery<SessionAnswer>('/app'), select: withoutTimes }).data;
}

function withoutTimes({ now, idle_seconds, idle_at, expires_at, ...rest }: SessionAnswer & { endsAt?: number }) {
  const { endsAt, person, ...signedIn } = rest;
  return signedIn;
}

/** Fetches the session again after a change to something that it shows. */
export async function refreshSession(): Promise<void> {
  await queryClient.refetchQueries({ queryKey: [SESSION, '/app'] });
}

/** Signs out, and removes all of the person's data: the service then leads to the sign-in. */
export async function signOut(): Promise<void> {
  await call('DELETE', '/app/session', { isForAnybody: true }).catch(() => undefined);
  location.replace('/app');
}

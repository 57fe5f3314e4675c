import { useSuspenseQuery } from '@tanstack/react-query';
import type { SessionAnswer } from '../../src/http/app/session-answer.ts';
import { call } from './call.ts';
import { queryClient, SESSION } from './queries.ts';
import { type SessionTimes, sessionQuery } from './session-life.ts';

/** Who is signed in, without the times, which change with every answer. */
export type SignedIn = Omit<SessionAnswer, keyof SessionTimes>;

/** Who is signed in to the clients' pages. The frame has asked, and asks again every few seconds. */
export function useSession(): SignedIn {
  return useSuspenseQuery({ ...sessionQuery<SessionAnswer>('/app'), select: withoutTimes }).data;
}

function withoutTimes({ now, idle_seconds, idle_at, expires_at, ...rest }: SessionAnswer & { endsAt?: number }) {
  const { endsAt, person, ...signedIn } = rest;
  return signedIn;
}

/** After something that the session shows was changed. */
export async function refreshSession(): Promise<void> {
  await queryClient.refetchQueries({ queryKey: [SESSION, '/app'] });
}

/** Signs out, and leaves nothing of the person behind: the service leads on to the sign-in. */
export async function signOut(): Promise<void> {
  await call('DELETE', '/app/session', { isForAnybody: true }).catch(() => undefined);
  location.replace('/app');
}

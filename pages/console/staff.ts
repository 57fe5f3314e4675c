import { useSuspenseQuery } from '@tanstack/react-query';
import type { StaffSessionAnswer } from '../../src/http/console/session-answer.ts';
import { call } from '../data/call.ts';
import { type SessionTimes, sessionQuery } from '../data/session-life.ts';

export type Scope = StaffSessionAnswer['scopes'][number];

/** The staff member who is signed in, and their scopes. The frame fetched them, and refreshes them every few seconds. */
export function useStaff(): Omit<StaffSessionAnswer, keyof SessionTimes> {
  return useSuspenseQuery({ ...sessionQuery<StaffSessionAnswer>('/console'), select: withoutTimes }).data;
}

function withoutTimes({ name, signed_in_with, roles, scopes }: StaffSessionAnswer) {
  return { name, signed_in_with, roles, scopes };
}

/** Whether the person has a scope. The scope to set passwords includes lifting locks. */
export function useMay(): (scope: Scope) => boolean {
  const { scopes } = useStaff();
  return (scope) => scopes.includes(scope) || (scope === 'unlock' && scopes.includes('identity'));
}

/** Signs out. The page that follows does not sign anybody in by itself. */
export async function signOutStaff(): Promise<void> {
  await call('DELETE', '/console/session', { isForAnybody: true }).catch(() => undefined);
  location.replace('/console/signed-out');
}

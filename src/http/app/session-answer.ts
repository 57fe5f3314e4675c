import type { PagePerson } from '../../identity/page-person.ts';

/** GET /app/session: who is signed in, and how long the session lasts. */
export interface SessionAnswer extends PagePerson {
  /** The service's clock. */
  now: string;
  /** How long nothing may be done. */
  idle_seconds: number;
  idle_at: string;
  expires_at: string;
}

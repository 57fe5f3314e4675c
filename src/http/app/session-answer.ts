import type { PagePerson } from '../../identity/page-person.ts';

/** GET /app/session: who is signed in, and how long the session lasts. */
export interface SessionAnswer extends PagePerson {
  /** The service's clock. */
  now: string;
  idle_at: string;
  expires_at: string;
}

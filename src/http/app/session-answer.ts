import type { PagePerson } from '../../identity/people/page-person.ts';

/** GET /app/session: who is signed in, and how long the session lasts. */
export interface SessionAnswer extends PagePerson {
  /** Who it is, as pages send it back in `X-Lombard-Person`. */
  person: string;
  /** The service's clock. */
  now: string;
  /** How long nothing may be done. */
  idle_seconds: number;
  idle_at: string;
  expires_at: string;
}

/** One of GET /app/sessions: a browser in which the person is signed in. */
export interface OwnSession {
  id: string;
  /** As the browser names itself. */
  browser: string;
  created_at: string;
  last_active_at: string;
  /** It is the one that asks. */
  current: boolean;
}

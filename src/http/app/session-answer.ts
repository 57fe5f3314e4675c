import type { PagePerson } from '../../identity/people/page-person.ts';

/** The answer of GET /app/session: who is signed in, and how long the session lasts. */
export interface SessionAnswer extends PagePerson {
  /** Identifies the person. Pages send it back in `X-Lombard-Person`. */
  person: string;
  /** The time of the service's clock. */
  now: string;
  /** Seconds without activity after which the session ends. */
  idle_seconds: number;
  idle_at: string;
  expires_at: string;
}

/** An entry of GET /app/sessions: a browser in which the person is signed in. */
export interface OwnSession {
  id: string;
  /** The browser's description of itself. */
  browser: string;
  created_at: string;
  last_active_at: string;
  /** Whether it is the browser that asks. */
  current: boolean;
}

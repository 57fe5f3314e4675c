import { type Db, first } from '../../database/database.ts';
import { randomToken, sha256 } from '../../values/crypto.ts';
import type { Prompting } from './authorization-request.ts';

/** How long a browser stays signed in after the sign-in, if LOMBARD_SINGLE_SIGN_ON allows it. */
export const BROWSER_SESSION_LIFETIME_SECONDS = 8 * 3_600;

/** A browser that is signed in. */
export interface BrowserSession {
  contactId: string;
  methods: string[];
  authenticatedAt: Date;
}

/**
 * Begins a session after a sign-in. Its secret is new each time, so a cookie that an attacker planted earlier never becomes a session.
 * @returns the secret, which is the value of the cookie
 */
export async function beginBrowserSession(db: Db, session: BrowserSession): Promise<string> {
  const secret = randomToken();
  await db.query(
    'insert into browser_sessions (session_sha256, contact_id, methods, authenticated_at, expires_at) values ($1, $2, $3, $4, $5)',
    [
      sha256(secret),
      session.contactId,
      session.methods,
      session.authenticatedAt,
      new Date(session.authenticatedAt.getTime() + BROWSER_SESSION_LIFETIME_SECONDS * 1_000),
    ],
  );
  return secret;
}

/**
 * The session of a browser. Undefined if it is missing or over, if the contact is disabled or has got a second factor since, or if the
 * request asks for a new or more recent sign-in.
 */
export async function findBrowserSession(
  db: Db,
  { secret, prompting, now }: { secret: string | undefined; prompting: Prompting; now: Date },
): Promise<BrowserSession | undefined> {
  if (secret === undefined || prompting.login) return undefined;
  const row = first(
    await db.query<{ contact_id: string; methods: string[]; authenticated_at: Date }>(
      `select s.contact_id, s.methods, s.authenticated_at from browser_sessions s
       join contacts k on k.contact_id = s.contact_id and k.status = 'enabled'
         and (k.second_factor = 'none' or cardinality(s.methods) > 1)
       where s.session_sha256 = $1 and s.ended_at is null and s.expires_at > $2`,
      [sha256(secret), now],
    ),
  );
  if (!row) return undefined;
  if (prompting.maxAge !== undefined && now.getTime() - row.authenticated_at.getTime() > prompting.maxAge * 1_000)
    return undefined;
  return { contactId: row.contact_id, methods: row.methods, authenticatedAt: row.authenticated_at };
}

/** Ends a session: signs the browser out. */
export async function endBrowserSession(db: Db, secret: string, now: Date): Promise<void> {
  await db.query('update browser_sessions set ended_at = $2 where session_sha256 = $1 and ended_at is null', [
    sha256(secret),
    now,
  ]);
}

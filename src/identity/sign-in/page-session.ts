import { randomUUID } from 'node:crypto';
import { type Db, first, type Transaction } from '../../database/database.ts';
import { randomToken, sha256 } from '../../values/crypto.ts';
import { PAGES_APPLICATION } from '../applications/own-applications.ts';
import { challengeOfVerifier, REDEEMED } from '../tokens/authorization-code.ts';

/** The most seconds for which a browser stays signed in, however active it is. */
const SESSION_LIFETIME_SECONDS = 12 * 3_600;
/** The most characters of a browser's description of itself. */
const MAX_BROWSER_LENGTH = 200;

/** A browser that is signed in to the pages. */
export interface PageSession {
  id: string;
  contact_id: string;
  grant_id: number;
  token_sha256: Buffer;
  browser: string;
  created_at: Date;
  last_active_at: Date;
  expires_at: Date;
}

const COLUMNS =
  's.id, s.contact_id, s.grant_id, s.token_sha256, s.browser, s.created_at, s.last_active_at, s.expires_at';
/** A valid session: $1 is now, $2 the milliseconds after which an idle one ends. */
const LIVE = `s.expires_at > $1 and s.last_active_at > $1::timestamptz - make_interval(secs => $2 / 1000.0)
  and exists (select from grants g where g.id = s.grant_id and g.revoked_at is null)`;

interface Beginning {
  code: string;
  verifier: string;
  redirectUri: string;
  browser: string;
  now: Date;
}

/**
 * Begins a session with an authorization code, which is used up. It has no refresh token. Its access token is random and not kept: the
 * pages' calls find it by its hash.
 * @returns the secret of the session, which is the value of its cookie; undefined if the code is not valid
 */
export async function beginPageSession(db: Db, beginning: Beginning): Promise<string | undefined> {
  const { code, verifier, redirectUri, browser, now } = beginning;
  const secret = randomToken();
  const begun = await db.query(
    `with ${REDEEMED}, access as (
       insert into access_tokens (token_sha256, grant_id, application_id, contact_id, issued_at, expires_at)
       select $2, grant_id, application_id, contact_id, $3, $4 from source)
     insert into page_sessions (id, secret_sha256, grant_id, contact_id, token_sha256, browser, created_at, last_active_at, expires_at)
     select $10, $1, grant_id, contact_id, $2, $5, $3, $3, $4 from source`,
    [
      sha256(secret),
      sha256(randomToken()),
      now,
      new Date(now.getTime() + SESSION_LIFETIME_SECONDS * 1_000),
      browser.slice(0, MAX_BROWSER_LENGTH),
      sha256(code),
      PAGES_APPLICATION,
      redirectUri,
      challengeOfVerifier(verifier),
      randomUUID(),
    ],
  );
  return begun.rowCount === 1 ? secret : undefined;
}

/**
 * The session of a cookie, if it is valid.
 * @param look `active`: the person is active, so the session continues for another idle period
 */
export async function findPageSession(
  db: Db,
  secret: string,
  look: { now: Date; idleMs: number; active: boolean },
): Promise<PageSession | undefined> {
  const text = look.active
    ? `update page_sessions s set last_active_at = greatest(s.last_active_at, $1) where s.secret_sha256 = $3 and ${LIVE} returning ${COLUMNS}`
    : `select ${COLUMNS} from page_sessions s where s.secret_sha256 = $3 and ${LIVE}`;
  const name = look.active ? 'page-session-active' : 'page-session';
  return first(
    await db.query<PageSession & Record<string, unknown>>({
      name,
      text,
      values: [look.now, look.idleMs, sha256(secret)],
    }),
  );
}

/** Why a session is no longer valid. `ended`: somebody signed out, or the person or the institution ended it. */
export type SessionEnd = 'idle' | 'expired' | 'ended';

/** Why the session of a cookie is over. */
export async function whyPageSessionEnded(
  db: Db,
  secret: string,
  { now, idleMs }: { now: Date; idleMs: number },
): Promise<SessionEnd> {
  const row = first(
    await db.query<{ expires_at: Date; last_active_at: Date; revoked_at: Date | null }>(
      `select s.expires_at, s.last_active_at, g.revoked_at from page_sessions s join grants g on g.id = s.grant_id
       where s.secret_sha256 = $1`,
      [sha256(secret)],
    ),
  );
  if (!row || row.revoked_at !== null) return 'ended';
  if (row.expires_at <= now) return 'expired';
  return row.last_active_at.getTime() + idleMs <= now.getTime() ? 'idle' : 'ended';
}

/** The person's valid sessions, most recently active first. */
export async function listPageSessions(
  db: Db,
  { contactId, now, idleMs }: { contactId: string; now: Date; idleMs: number },
): Promise<PageSession[]> {
  const { rows } = await db.query<PageSession & Record<string, unknown>>(
    `select ${COLUMNS} from page_sessions s where s.contact_id = $3 and ${LIVE} order by s.last_active_at desc, s.id`,
    [now, idleMs, contactId],
  );
  return rows;
}

/**
 * Ends a session of a person, its token, and the authorization server's session that it came from.
 * @returns false if the person has no such session
 */
export async function endPageSession(
  tx: Transaction,
  { id, contactId, now }: { id: string; contactId: string; now: Date },
): Promise<boolean> {
  const ended = first(
    await tx.query<{ grant_id: number }>(
      'delete from page_sessions where id = $1 and contact_id = $2 returning grant_id',
      [id, contactId],
    ),
  );
  if (!ended) return false;
  await tx.query(
    `with ended as (update grants set revoked_at = coalesce(revoked_at, $2) where id = $1 returning contact_id, authenticated_at)
     update browser_sessions b set ended_at = $2 from ended
     where b.contact_id = ended.contact_id and b.authenticated_at = ended.authenticated_at and b.ended_at is null`,
    [ended.grant_id, now],
  );
  return true;
}

/** Ends everything that a person is signed in to: the pages, other applications with their tokens, and the authorization server's sessions. */
export async function signOutEverywhere(tx: Transaction, contactId: string, now: Date): Promise<void> {
  await tx.query('delete from page_sessions where contact_id = $1', [contactId]);
  await tx.query('update grants set revoked_at = $2 where contact_id = $1 and revoked_at is null', [contactId, now]);
  await tx.query('update browser_sessions set ended_at = $2 where contact_id = $1 and ended_at is null', [
    contactId,
    now,
  ]);
}

/** Keeps one session among those that a new password has just ended, in the same transaction. */
export async function keepPageSession(tx: Transaction, session: PageSession): Promise<void> {
  await tx.query('update grants set revoked_at = null where id = $1', [session.grant_id]);
  await tx.query('delete from page_sessions where contact_id = $1 and id <> $2', [session.contact_id, session.id]);
}

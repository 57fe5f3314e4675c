import { randomUUID } from 'node:crypto';
import type { Act, StaffMember } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import type { OperatorRole, StaffRole } from '../settings/staff-settings.ts';
import { randomToken, sha256 } from '../values/crypto.ts';
import { Problem } from '../values/errors.ts';
import { SCOPES, SCOPES_OF, type Scope } from './scope.ts';

/** The most seconds for which a browser stays signed in, however active it is. */
const SESSION_LIFETIME_SECONDS = 12 * 3_600;
/** The most characters of a browser's description of itself. */
const MAX_BROWSER_LENGTH = 200;

/** A person in the form that the institution's OpenID provider described at the sign-in. */
export interface StaffPerson extends StaffMember {
  name: string;
  claims: RoleClaims;
}

/** A browser that is signed in to the institution's pages. */
export interface StaffSession {
  id: string;
  created_at: Date;
  last_active_at: Date;
  expires_at: Date;
  /** The token of the session, in its current state. */
  token: { id: string; name: string; role: OperatorRole | null; scopes: Scope[] } | null;
  person: StaffPerson | null;
}

/**
 * Begins a session, and records it in the audit trail.
 * @param who a token with its text, or a person
 * @returns its secret, which is the value of its cookie
 */
export async function beginStaffSession(
  tx: Transaction,
  act: Act,
  { who, browser }: { who: { tokenId: string; token: string } | StaffPerson; browser: string },
): Promise<string> {
  const secret = randomToken();
  const id = randomUUID();
  const person = 'issuer' in who ? who : null;
  const token = 'token' in who ? who : null;
  await tx.query(
    `insert into staff_sessions (id, secret_sha256, token_id, token_sha256, issuer, subject, name, claims, browser, created_at,
       last_active_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11)`,
    [
      id,
      sha256(secret),
      token?.tokenId ?? null,
      token ? sha256(token.token) : null,
      person?.issuer ?? null,
      person?.subject ?? null,
      person?.name ?? null,
      person ? JSON.stringify(person.claims) : null,
      browser.slice(0, MAX_BROWSER_LENGTH),
      act.now,
      new Date(act.now.getTime() + SESSION_LIFETIME_SECONDS * 1_000),
    ],
  );
  audit(tx, act, { action: 'create', entity: 'staff_session', entityId: id, after: { claims: person?.claims } });
  return secret;
}

/**
 * The session of a cookie, if it is valid.
 * @param look `active`: the person is active, so the session continues for another idle period
 */
export async function findStaffSession(
  db: Db,
  secret: string,
  look: { now: Date; idleMs: number; active: boolean },
): Promise<StaffSession | undefined> {
  const live = `s.secret_sha256 = $3 and s.expires_at > $1 and s.last_active_at > $1::timestamptz - make_interval(secs => $2 / 1000.0)`;
  const found = look.active
    ? `update staff_sessions s set last_active_at = greatest(s.last_active_at, $1) where ${live} returning s.*`
    : `select s.* from staff_sessions s where ${live}`;
  return first(
    await db.query<StaffSession & Record<string, unknown>>({
      name: look.active ? 'staff-session-active' : 'staff-session',
      text: `with s as (${found}) select s.id, s.created_at, s.last_active_at, s.expires_at,
        case when t.id is not null then json_build_object('id', t.id, 'name', t.name, 'role', t.role, 'scopes', t.scopes) end as token,
        case when s.issuer is not null
          then json_build_object('issuer', s.issuer, 'subject', s.subject, 'name', s.name, 'claims', s.claims) end as person
        from s left join operator_tokens t on t.id = s.token_id and t.token_sha256 = s.token_sha256 and t.revoked_at is null
          and (t.expires_at is null or t.expires_at > $1)
        where t.id is not null or s.issuer is not null`,
      values: [look.now, look.idleMs, sha256(secret)],
    }),
  );
}

/** Why the session of a cookie is no longer valid. `ended`: somebody ended it, or removed what it depends on. */
export async function whyStaffSessionEnded(
  db: Db,
  secret: string,
  { now, idleMs }: { now: Date; idleMs: number },
): Promise<'idle' | 'expired' | 'ended'> {
  const session = first(
    await db.query<Pick<StaffSession, 'last_active_at' | 'expires_at'> & Record<string, unknown>>(
      'select last_active_at, expires_at from staff_sessions where secret_sha256 = $1',
      [sha256(secret)],
    ),
  );
  if (!session) return 'ended';
  if (session.expires_at <= now) return 'expired';
  return now.getTime() - session.last_active_at.getTime() >= idleMs ? 'idle' : 'ended';
}

/** Ends a session. Its cookie becomes useless. */
export async function endStaffSession(tx: Transaction, act: Act, id: string): Promise<void> {
  const { rowCount } = await tx.query('delete from staff_sessions where id = $1', [id]);
  if (rowCount) audit(tx, act, { action: 'delete', entity: 'staff_session', entityId: id });
}

/** @throws Problem authentication_failed if the person has signed out */
export async function confirmStaffSession(tx: Transaction, id: string, now: Date): Promise<void> {
  const { rows } = await tx.query({
    name: 'staff-session-confirm',
    text: 'select from staff_sessions where id = $1 and expires_at > $2 for share',
    values: [id, now],
  });
  if (rows.length === 0) throw new Problem('authentication_failed', 'the person has signed out');
}

/** The claims of the institution's provider about a person, as far as roles depend on them. */
export type RoleClaims = Record<string, unknown>;

/** The claims from which roles are derived. */
export function roleClaims(roles: readonly StaffRole[], claims: RoleClaims): RoleClaims {
  return Object.fromEntries(roles.flatMap(({ claim }) => (claim in claims ? [[claim, claims[claim]]] : [])));
}

/** The roles of a person, and the scopes of all of them together, in the order of the catalogue. */
export function rolesOf(roles: readonly StaffRole[], claims: RoleClaims): { roles: OperatorRole[]; scopes: Scope[] } {
  const own = roles.filter(({ claim, value }) => has(claims[claim], value)).map(({ role }) => role);
  const scopes = SCOPES.filter((scope) => own.some((role) => SCOPES_OF[role].includes(scope)));
  return { roles: [...new Set(own)], scopes };
}

/** Whether a claim, which is a text or a list of texts, contains a value. */
function has(claim: unknown, value: string): boolean {
  return Array.isArray(claim) ? claim.includes(value) : claim === value;
}

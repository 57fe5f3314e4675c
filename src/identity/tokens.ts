import { createHash } from 'node:crypto';
import { randomToken, sha256 } from '../crypto.ts';
import { type Db, first } from '../database.ts';
import { OAuthError } from './oauth-error.ts';

/** Seconds that an access token lives (the service interface, Limits). */
export const ACCESS_TOKEN_LIFETIME = 3_600;
/** Refresh tokens accepted of one contact and application, the newest ones. */
const REFRESH_TOKENS_KEPT = 10;

/** What a token answer is made of. */
export interface IssuedTokens {
  accessToken: string;
  refreshToken: string;
  applicationId: string;
  contactId: string;
  /** How the contact proved itself (RFC 8176). */
  methods: string[];
  authenticatedAt: Date;
  nonce: string | null;
  clients: { client_id: string; client_name: string }[];
}

/** The certificate of a request on the trusted address, judged already. */
export interface JudgedCertificate {
  /** Subject DN in its canonical spelling (distinguished-name.ts). */
  subject: string;
  /** SHA-256 of its DER, base64url (RFC 8705, 3.1). */
  thumbprint: string;
}

interface GrantRow {
  application_id: string;
  contact_id: string;
  methods: string[];
  authenticated_at: Date;
  nonce: string | null;
  clients: IssuedTokens['clients'] | null;
}

/** The pair of tokens of a grant; `source` is the CTE whose rows are the grants. */
const TOKENS_OF = (source: string, [refresh, access, now, expires, thumbprint]: string[]) => `
  refresh as (
    insert into refresh_tokens (token_sha256, grant_id, application_id, contact_id, issued_at)
    select ${refresh}, s.grant_id, s.application_id, s.contact_id, ${now} from ${source} s),
  access as (
    insert into access_tokens (token_sha256, grant_id, application_id, contact_id, thumbprint, issued_at, expires_at)
    select ${access}, s.grant_id, s.application_id, s.contact_id, ${thumbprint}, ${now}, ${expires} from ${source} s)
  select s.application_id, s.contact_id, s.methods, s.authenticated_at, s.nonce,
    (select json_agg(json_build_object('client_id', c.client_id, 'client_name', c.client_name) order by c.client_id)
      from contact_clients p join clients c on c.client_id = p.client_id
      where p.contact_id = s.contact_id and (not s.trusted or exists (
        select from application_trusted_clients a where a.application_id = s.application_id and a.client_id = p.client_id))) as clients
  from ${source} s`;

const REDEEM = `
  with redeemed as (
    update authorization_codes c set used_at = $3
    from contacts k
    where c.code_sha256 = $6 and c.application_id = $7 and c.redirect_uri = $8 and c.code_challenge is not distinct from $9
      and c.used_at is null and c.expires_at > $3 and k.contact_id = c.contact_id and k.status = 'enabled'
    returning c.application_id, c.contact_id, c.code_sha256, c.methods, c.authenticated_at, c.nonce),
  granted as (
    insert into grants (application_id, contact_id, code_sha256, trusted, methods, authenticated_at, created_at)
    select application_id, contact_id, code_sha256, false, methods, authenticated_at, $3 from redeemed
    returning id as grant_id, application_id, contact_id, trusted, methods, authenticated_at),
  source as (select g.*, r.nonce from granted g cross join redeemed r),
  ${TOKENS_OF('source', ['$1', '$2', '$3', '$4', '$5'])}`;

/**
 * Exchanges an authorization code, once: the row is marked used and everything is issued in one statement, so of any number of
 * parallel exchanges one succeeds. A second use revokes what the first one got (docs/decisions.md, 7).
 * @param given `redirectUri`: the very text the code was issued for; `verifier`: of PKCE; where the code has no challenge none may come
 * @throws OAuthError invalid_grant
 */
export async function redeemCode(
  db: Db,
  given: {
    applicationId: string;
    code: string;
    redirectUri: string;
    verifier: string | undefined;
    thumbprint: string | null;
    now: Date;
  },
): Promise<IssuedTokens> {
  const code = sha256(given.code);
  const challenge =
    given.verifier === undefined ? null : createHash('sha256').update(given.verifier).digest('base64url');
  const issued = await issue(db, 'redeem_code', REDEEM, given, [
    code,
    given.applicationId,
    given.redirectUri,
    challenge,
  ]);
  if (issued) return issued;
  const known = first(
    await db.query<{ used_at: Date | null; expired: boolean; redirect_fits: boolean }>(
      `select used_at, expires_at <= $3 as expired, redirect_uri = $4 as redirect_fits
       from authorization_codes where code_sha256 = $1 and application_id = $2`,
      [code, given.applicationId, given.now, given.redirectUri],
    ),
  );
  if (known?.used_at) {
    await db.query(
      'update grants set revoked_at = $3 where code_sha256 = $1 and application_id = $2 and revoked_at is null',
      [code, given.applicationId, given.now],
    );
    throw new OAuthError('invalid_grant', 'the code has been used before: the tokens that it gave are revoked');
  }
  if (!known) throw new OAuthError('invalid_grant', 'code: is unknown, or of another application');
  if (known.expired) throw new OAuthError('invalid_grant', 'code: has expired; it must be exchanged within 10 minutes');
  if (!known.redirect_fits)
    throw new OAuthError('invalid_grant', 'redirect_uri: must be the one that the code was sent to');
  throw new OAuthError('invalid_grant', 'code_verifier: does not fit the code_challenge of the authorization request');
}

/** A refresh token in force: of an unrevoked grant, young enough, and with fewer than ten newer ones; computed when it is read. */
const IN_FORCE = `
  from refresh_tokens r
  join grants g on g.id = r.grant_id and g.revoked_at is null
  join applications a on a.client_id = r.application_id and a.status = 'enabled'
  join contacts k on k.contact_id = r.contact_id and k.status = 'enabled' and (not g.trusted or k.trusted_access)
  where r.token_sha256 = $TOKEN and r.application_id = $APPLICATION
    and r.issued_at + a.refresh_token_days * interval '24 hours' > $NOW
    and (select count(*) from (select from refresh_tokens n
      where n.application_id = r.application_id and n.contact_id = r.contact_id and n.id > r.id
      limit ${REFRESH_TOKENS_KEPT}) as newer) < ${REFRESH_TOKENS_KEPT}`;

function inForce(token: string, application: string, now: string): string {
  return IN_FORCE.replace('$TOKEN', token).replace('$APPLICATION', application).replace('$NOW', now);
}

const REFRESH = `
  with source as (
    select r.grant_id, r.application_id, r.contact_id, g.trusted, g.methods, g.authenticated_at, null::text as nonce
    ${inForce('$6', '$7', '$3')} and (not g.trusted or $5::text is not null)),
  ${TOKENS_OF('source', ['$1', '$2', '$3', '$4', '$5'])}`;

/**
 * Exchanges a refresh token for a new pair; it stays usable itself while it is one of the last ten (docs/decisions.md, 7).
 * A grant that was given over mutual TLS is refreshed there only.
 * @throws OAuthError invalid_grant
 */
export async function refresh(
  db: Db,
  given: { applicationId: string; refreshToken: string; thumbprint: string | null; now: Date },
): Promise<IssuedTokens> {
  const issued = await issue(db, 'refresh', REFRESH, given, [sha256(given.refreshToken), given.applicationId]);
  if (!issued)
    throw new OAuthError(
      'invalid_grant',
      'refresh_token: is unknown, revoked, too old, or no longer one of the last ten',
    );
  return issued;
}

const TRUSTED = `
  with granted as (
    insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
    select a.client_id, k.contact_id, true, '{swk}', $3, $3
    from contacts k, applications a
    where k.contact_id = $6 and a.client_id = $7 and k.status = 'enabled' and k.trusted_access and a.status = 'enabled'
      and exists (select from contact_clients p join application_trusted_clients t
        on t.client_id = p.client_id and t.application_id = a.client_id where p.contact_id = k.contact_id)
    returning id as grant_id, application_id, contact_id, trusted, methods, authenticated_at),
  source as (select granted.*, null::text as nonce from granted),
  ${TOKENS_OF('source', ['$1', '$2', '$3', '$4', '$5'])}`;

/**
 * Tokens for a contact on behalf of its institution (the service interface, POST {trusted_url}/token/{contact_id}). That the
 * certificate is registered for the application has been checked before (http/auth/token.ts).
 * @throws OAuthError unauthorized_client; one answer for every reason, so that nobody can probe for contacts
 */
export async function issueTrusted(
  db: Db,
  given: { applicationId: string; contactId: string; thumbprint: string; now: Date },
): Promise<IssuedTokens> {
  const issued = await issue(db, 'issue_trusted', TRUSTED, given, [given.contactId, given.applicationId]);
  if (issued) return issued;
  throw new OAuthError(
    'unauthorized_client',
    'the contact must have trusted access and belong to a client that the application may act for',
  );
}

/** Runs one of the statements above; $1 to $5 are the same in all of them. */
async function issue(
  db: Db,
  name: string,
  text: string,
  given: { thumbprint: string | null; now: Date },
  values: unknown[],
): Promise<IssuedTokens | undefined> {
  const [refreshToken, accessToken] = [randomToken(), randomToken()];
  const expires = new Date(given.now.getTime() + ACCESS_TOKEN_LIFETIME * 1_000);
  const row = first(
    await db.query<GrantRow>({
      name,
      text,
      values: [sha256(refreshToken), sha256(accessToken), given.now, expires, given.thumbprint, ...values],
    }),
  );
  if (!row) return undefined;
  return {
    accessToken,
    refreshToken,
    applicationId: row.application_id,
    contactId: row.contact_id,
    methods: row.methods,
    authenticatedAt: row.authenticated_at,
    nonce: row.nonce,
    clients: row.clients ?? [],
  };
}

/**
 * Revokes a token of the application (RFC 7009): an access token alone, a refresh token with everything its sign-in gave.
 * Every process refuses it within a second. A token that is unknown is none to revoke, and no error.
 */
export async function revokeToken(db: Db, applicationId: string, token: string, now: Date): Promise<void> {
  const values = [sha256(token), applicationId, now];
  await db.query(
    'update access_tokens set revoked_at = $3 where token_sha256 = $1 and application_id = $2 and revoked_at is null',
    values,
  );
  await db.query(
    `update grants set revoked_at = $3 where revoked_at is null
     and id in (select r.grant_id from refresh_tokens r where r.token_sha256 = $1 and r.application_id = $2)`,
    values,
  );
}

/** What RFC 7662 tells of a token of the application. */
export interface Introspection {
  contact_id: string;
  kind: 'access_token' | 'refresh_token';
  issued_at: Date;
  expires_at: Date;
  thumbprint: string | null;
}

/** The token, where it is in force and of the application; undefined else. */
export async function introspect(
  db: Db,
  applicationId: string,
  token: string,
  now: Date,
): Promise<Introspection | undefined> {
  return first(
    await db.query<Introspection>({
      name: 'introspect',
      text: `
        select t.contact_id, 'access_token' as kind, t.issued_at, t.expires_at, t.thumbprint
        from access_tokens t join grants g on g.id = t.grant_id and g.revoked_at is null
        join applications a on a.client_id = t.application_id and a.status = 'enabled'
        join contacts k on k.contact_id = t.contact_id and k.status = 'enabled' and (not g.trusted or k.trusted_access)
        where t.token_sha256 = $1 and t.application_id = $2 and t.revoked_at is null and t.expires_at > $3
        union all
        select r.contact_id, 'refresh_token', r.issued_at, r.issued_at + a.refresh_token_days * interval '24 hours', null
        ${inForce('$1', '$2', '$3')}`,
      values: [sha256(token), applicationId, now],
    }),
  );
}

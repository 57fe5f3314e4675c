import { type Db, first } from '../../database/database.ts';
import { randomToken, sha256 } from '../../values/crypto.ts';
import { OAuthError } from '../oauth-error.ts';

/** Seconds for which an access token is valid (service interface, Limits). */
export const ACCESS_TOKEN_LIFETIME_SECONDS = 3_600;

/** The contents of a token response. */
export interface IssuedTokens {
  accessToken: string;
  refreshToken: string;
  applicationId: string;
  contactId: string;
  /** How the contact authenticated (RFC 8176). */
  methods: string[];
  authenticatedAt: Date;
  nonce: string | null;
  clients: { client_id: string; client_name: string }[];
}

/** What every token response depends on. */
export interface TokenIssue {
  applicationId: string;
  /** SHA-256 of the certificate to which the tokens are bound, base64url; null on the authorization listener. */
  thumbprint: string | null;
  now: Date;
}

interface GrantRow {
  application_id: string;
  contact_id: string;
  methods: string[];
  authenticated_at: Date;
  nonce: string | null;
  clients: IssuedTokens['clients'] | null;
}

/**
 * The end of a statement that issues tokens. The rows of its CTE `source` are the grants. $1 and $2 are the hashes of the refresh and the
 * access token, $3 is now, $4 the expiry, $5 the thumbprint.
 */
export const ISSUE_TOKENS = `
  refresh as (
    insert into refresh_tokens (token_sha256, grant_id, application_id, contact_id, issued_at)
    select $1, s.grant_id, s.application_id, s.contact_id, $3 from source s),
  access as (
    insert into access_tokens (token_sha256, grant_id, application_id, contact_id, thumbprint, issued_at, expires_at)
    select $2, s.grant_id, s.application_id, s.contact_id, $5, $3, $4 from source s)
  select s.application_id, s.contact_id, s.methods, s.authenticated_at, s.nonce,
    (select json_agg(json_build_object('client_id', c.client_id, 'client_name', c.client_name) order by c.client_id)
      from contact_clients p join clients c on c.client_id = p.client_id
      where p.contact_id = s.contact_id and (not s.trusted or exists (
        select from application_trusted_clients a
        where a.application_id = s.application_id and a.client_id = p.client_id))) as clients
  from source s`;

/**
 * Runs a statement that ends with ISSUE_TOKENS.
 * @param statement `values`: its parameters from $6 on
 * @returns undefined if its `source` selected no grant
 */
export async function issueTokens(
  db: Db,
  { thumbprint, now }: Pick<TokenIssue, 'thumbprint' | 'now'>,
  { name, text, values }: { name: string; text: string; values: unknown[] },
): Promise<IssuedTokens | undefined> {
  const [refreshToken, accessToken] = [randomToken(), randomToken()];
  const expiresAt = new Date(now.getTime() + ACCESS_TOKEN_LIFETIME_SECONDS * 1_000);
  const row = first(
    await db.query<GrantRow>({
      name,
      text,
      values: [sha256(refreshToken), sha256(accessToken), now, expiresAt, thumbprint, ...values],
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

/** The number of refresh tokens of one contact and application that are accepted: the newest ones. */
export const MAX_REFRESH_TOKENS = 10;

/**
 * The rows of a valid refresh token: its grant is not revoked, it is young enough, and fewer than MAX_REFRESH_TOKENS are newer. This is
 * determined when it is read.
 * @param parameters the statement's parameters, for example `$1`
 */
function refreshTokenInForce(parameters: { token: string; application: string; now: string }): string {
  const { token, application, now } = parameters;
  return `
    from refresh_tokens r
    join grants g on g.id = r.grant_id and g.revoked_at is null
    join applications a on a.client_id = r.application_id and a.status = 'enabled'
    join contacts k on k.contact_id = r.contact_id and k.status = 'enabled' and (not g.trusted or k.trusted_access)
    where r.token_sha256 = ${token} and r.application_id = ${application}
      and r.issued_at + a.refresh_token_days * interval '24 hours' > ${now}
      and (select count(*) from (select from refresh_tokens n
        where n.application_id = r.application_id and n.contact_id = r.contact_id and n.id > r.id
        limit ${MAX_REFRESH_TOKENS}) as newer) < ${MAX_REFRESH_TOKENS}`;
}

const REFRESH = `
  with source as (
    select r.grant_id, r.application_id, r.contact_id, g.trusted, g.methods, g.authenticated_at, null::text as nonce
    ${refreshTokenInForce({ token: '$6', application: '$7', now: '$3' })} and (not g.trusted or $5::text is not null)),
  ${ISSUE_TOKENS}`;

/**
 * Exchanges a refresh token for a new pair. The token itself remains usable while it is one of the last ten (docs/decisions.md, 7). A grant
 * that was issued over mutual TLS can be refreshed only over mutual TLS.
 * @throws OAuthError invalid_grant
 */
export async function redeemRefreshToken(
  db: Db,
  refresh: TokenIssue & { refreshToken: string },
): Promise<IssuedTokens> {
  const values = [sha256(refresh.refreshToken), refresh.applicationId];
  const issued = await issueTokens(db, refresh, { name: 'refresh', text: REFRESH, values });
  if (issued) return issued;
  throw new OAuthError(
    'invalid_grant',
    'refresh_token: is unknown, revoked, too old, or no longer one of the last ten',
  );
}

/** The answer of an introspection (RFC 7662). */
export interface Introspection {
  contact_id: string;
  kind: 'access_token' | 'refresh_token';
  issued_at: Date;
  expires_at: Date;
  thumbprint: string | null;
}

/** A valid token of the application; undefined for any other. */
export async function introspect(
  db: Db,
  { applicationId, token, now }: { applicationId: string; token: string; now: Date },
): Promise<Introspection | undefined> {
  const values = [sha256(token), applicationId, now];
  return first(await db.query<Introspection>({ name: 'introspect', text: INTROSPECT, values }));
}

const INTROSPECT = `
  select t.contact_id, 'access_token' as kind, t.issued_at, t.expires_at, t.thumbprint
  from access_tokens t join grants g on g.id = t.grant_id and g.revoked_at is null
  join applications a on a.client_id = t.application_id and a.status = 'enabled'
  join contacts k on k.contact_id = t.contact_id and k.status = 'enabled' and (not g.trusted or k.trusted_access)
  where t.token_sha256 = $1 and t.application_id = $2 and t.revoked_at is null and t.expires_at > $3
  union all
  select r.contact_id, 'refresh_token', r.issued_at, r.issued_at + a.refresh_token_days * interval '24 hours', null
  ${refreshTokenInForce({ token: '$1', application: '$2', now: '$3' })}`;

/**
 * Revokes a token of the application (RFC 7009). An access token is revoked alone, a refresh token with its whole grant. Every process
 * refuses it within a second. An unknown token is not an error (RFC 7009, 2.2).
 */
export async function revokeToken(
  db: Db,
  { applicationId, token, now }: { applicationId: string; token: string; now: Date },
): Promise<void> {
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

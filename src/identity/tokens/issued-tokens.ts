import { type Db, first } from '../../database/database.ts';
import { randomToken, sha256 } from '../../values/crypto.ts';

/** How long an access token lives (the service interface, Limits). */
export const ACCESS_TOKEN_LIFETIME_SECONDS = 3_600;

/** What a token response is made of. */
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
  /** SHA-256 of the certificate that the tokens are bound to, base64url; null on the authorization listener. */
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
 * The end of a statement that issues tokens. The rows of its CTE `source` are the grants.
 * $1 and $2 are the hashes of the refresh and the access token, $3 is now, $4 the expiry, $5 the thumbprint.
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
 * @returns undefined where its `source` gave no grant
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

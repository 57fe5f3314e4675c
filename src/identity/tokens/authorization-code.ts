import { createHash } from 'node:crypto';
import { type Db, first } from '../../database/database.ts';
import { randomToken, sha256 } from '../../values/crypto.ts';
import { OAuthError, received } from '../oauth-error.ts';
import { ISSUE_TOKENS, type IssuedTokens, issueTokens, type TokenIssue } from './issued-tokens.ts';

/** Seconds within which a code must be exchanged (service interface, Limits). */
const CODE_LIFETIME_SECONDS = 600;

/** What a code grants until it is exchanged. */
export interface Authorization {
  applicationId: string;
  contactId: string;
  redirectUri: string;
  nonce: string | null;
  /** The S256 challenge of PKCE. */
  codeChallenge: string | null;
  /** How the contact authenticated (RFC 8176): `pwd`, and `otp` or `sms`. */
  methods: string[];
  authenticatedAt: Date;
}

/**
 * Issues an authorization code, bound to application, contact, redirect address and challenge. Only its hash is stored. The insert does not
 * wait for the disk: if the database's machine crashes, the visitor signs in again.
 */
export async function issueCode(db: Db, authorization: Authorization, now: Date): Promise<string> {
  const code = randomToken();
  await db.query({
    name: 'issue_code',
    text: `with no_wait as materialized (select set_config('synchronous_commit', 'off', true))
      insert into authorization_codes (code_sha256, application_id, contact_id, redirect_uri, nonce, code_challenge,
        methods, authenticated_at, created_at, expires_at)
      select $1, $2, $3, $4, $5, $6, $7::text[], $8::timestamptz, $9::timestamptz, $10::timestamptz from no_wait`,
    values: [
      sha256(code),
      authorization.applicationId,
      authorization.contactId,
      authorization.redirectUri,
      authorization.nonce,
      authorization.codeChallenge,
      authorization.methods,
      authorization.authenticatedAt,
      now,
      new Date(now.getTime() + CODE_LIFETIME_SECONDS * 1_000),
    ],
  });
  return code;
}

/**
 * The CTEs that use up a code and select its grant in `source`. $3 is now; $6 to $9 are the hash of the code, the application, the redirect
 * address and the challenge.
 */
export const REDEEMED = `
  redeemed as (
    update authorization_codes c set used_at = $3
    from contacts k
    where c.code_sha256 = $6 and c.application_id = $7 and c.redirect_uri = $8
      and c.code_challenge is not distinct from $9 and c.used_at is null and c.expires_at > $3
      and k.contact_id = c.contact_id and k.status = 'enabled'
    returning c.application_id, c.contact_id, c.code_sha256, c.methods, c.authenticated_at, c.nonce),
  granted as (
    insert into grants (application_id, contact_id, code_sha256, trusted, methods, authenticated_at, created_at)
    select application_id, contact_id, code_sha256, false, methods, authenticated_at, $3 from redeemed
    returning id as grant_id, application_id, contact_id, trusted, methods, authenticated_at),
  source as (select g.*, r.nonce from granted g cross join redeemed r)`;

/** The S256 challenge of a PKCE verifier (RFC 7636, 4.2). */
export function challengeOfVerifier(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

interface CodeExchange extends TokenIssue {
  code: string;
  /** Must be exactly the text for which the code was issued. */
  redirectUri: string;
  /** The PKCE verifier; must be undefined if the code has no challenge. */
  verifier: string | undefined;
}

/**
 * Exchanges an authorization code once. One statement marks the code as used and issues the tokens, so only one of several parallel
 * exchanges succeeds. A second use revokes the tokens of the first (docs/decisions.md, 7).
 * @throws OAuthError invalid_grant
 */
export async function redeemCode(db: Db, exchange: CodeExchange): Promise<IssuedTokens> {
  const { applicationId, redirectUri, verifier } = exchange;
  const challenge = verifier === undefined ? null : challengeOfVerifier(verifier);
  const values = [sha256(exchange.code), applicationId, redirectUri, challenge];
  const issued = await issueTokens(db, exchange, {
    name: 'redeem_code',
    text: `with ${REDEEMED}, ${ISSUE_TOKENS}`,
    values,
  });
  if (issued) return issued;
  throw await explainRefusal(db, exchange);
}

const HANDLE =
  'is the handle of a second step, not yet a code: send it with the verification code to /verify, which answers with the code';

/** Whether a text is the handle of an application's second step. */
async function isHandle(db: Db, key: Buffer, applicationId: string): Promise<boolean> {
  const found = await db.query(
    'select from second_factor_challenges where challenge_sha256 = $1 and application_id = $2',
    [key, applicationId],
  );
  return found.rows.length > 0;
}

/** Why a code cannot be exchanged. Revokes the tokens of a code that was used before. */
async function explainRefusal(db: Db, { applicationId, code, redirectUri, now }: CodeExchange): Promise<OAuthError> {
  const key = sha256(code);
  const known = first(
    await db.query<{ used_at: Date | null; expired: boolean; redirect_fits: boolean }>(
      `select used_at, expires_at <= $3 as expired, redirect_uri = $4 as redirect_fits
       from authorization_codes where code_sha256 = $1 and application_id = $2`,
      [key, applicationId, now, redirectUri],
    ),
  );
  const refuse = (reason: string) => new OAuthError('invalid_grant', reason);
  if (!known)
    return refuse(
      `code: ${(await isHandle(db, key, applicationId)) ? HANDLE : 'is unknown, or was issued to another application'}`,
    );
  if (known.used_at) {
    await db.query(
      'update grants set revoked_at = $3 where code_sha256 = $1 and application_id = $2 and revoked_at is null',
      [key, applicationId, now],
    );
    return refuse('code: has been used before; the tokens that were issued for it are revoked');
  }
  if (known.expired) return refuse('code: has expired; it must be exchanged within 10 minutes');
  if (!known.redirect_fits)
    return refuse(`redirect_uri: must be the address that the code was sent to${received(redirectUri)}`);
  return refuse('code_verifier: does not match the code_challenge of the authorization request');
}

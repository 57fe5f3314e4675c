import type { Db } from '../../database/database.ts';
import { sha256 } from '../../values/crypto.ts';
import { OAuthError } from '../oauth-error.ts';
import { ISSUE_TOKENS, type IssuedTokens, issueTokens, type TokenIssue } from './issued-tokens.ts';

/** Refresh tokens of one contact and application that are accepted: the newest ones. */
export const MAX_REFRESH_TOKENS = 10;

/**
 * The rows of a refresh token that is in force: its grant is not revoked, it is young enough, and fewer than MAX_REFRESH_TOKENS
 * are newer. Decided when it is read.
 * @param parameters the numbers of the statement's parameters, for example `$1`
 */
export function refreshTokenInForce(parameters: { token: string; application: string; now: string }): string {
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
 * Exchanges a refresh token for a new pair. The token itself stays usable while it is one of the last ten (docs/decisions.md, 7).
 * A grant that was issued over mutual TLS is refreshed over mutual TLS only.
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

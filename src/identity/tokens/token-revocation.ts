import type { Db } from '../../database/database.ts';
import { sha256 } from '../../values/crypto.ts';

/**
 * Revokes a token of the application (RFC 7009). An access token is revoked alone, a refresh token with its whole grant.
 * Every process refuses it within a second. An unknown token is not an error (RFC 7009, 2.2).
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

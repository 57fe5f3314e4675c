import { type Db, first } from '../../database/database.ts';
import { sha256 } from '../../values/crypto.ts';
import { refreshTokenInForce } from './refresh-token.ts';

/** What RFC 7662 tells of a token. */
export interface Introspection {
  contact_id: string;
  kind: 'access_token' | 'refresh_token';
  issued_at: Date;
  expires_at: Date;
  thumbprint: string | null;
}

/** A token of the application that is in force; undefined for any other. */
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

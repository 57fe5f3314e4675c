import type { Db } from '../../database/database.ts';
import { OAuthError } from '../oauth-error.ts';
import { ISSUE_TOKENS, type IssuedTokens, issueTokens } from './issued-tokens.ts';

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
  ${ISSUE_TOKENS}`;

/**
 * Issues tokens for a contact on behalf of its institution (service interface, POST {trusted_url}/token/{contact_id}). The caller has
 * checked that the certificate is registered for the application (client-certificate.ts).
 * @throws OAuthError unauthorized_client, with the same text for every reason, so that nobody can probe for contacts
 */
export async function issueTrustedTokens(
  db: Db,
  input: { applicationId: string; contactId: string; thumbprint: string; now: Date },
): Promise<IssuedTokens> {
  const values = [input.contactId, input.applicationId];
  const issued = await issueTokens(db, input, { name: 'issue_trusted', text: TRUSTED, values });
  if (issued) return issued;
  throw new OAuthError(
    'unauthorized_client',
    'the contact must have trusted access and belong to a client that the application may act for',
  );
}

/** The contacts for which an application may request tokens, in the order of their identifiers. */
export async function trustedContacts(db: Db, applicationId: string): Promise<string[]> {
  const { rows } = await db.query<{ contact_id: string }>(
    `select k.contact_id from contacts k where k.status = 'enabled' and k.trusted_access
       and exists (select from contact_clients p join application_trusted_clients t on t.client_id = p.client_id
         where p.contact_id = k.contact_id and t.application_id = $1)
     order by k.contact_id`,
    [applicationId],
  );
  return rows.map(({ contact_id: id }) => id);
}

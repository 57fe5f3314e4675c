import { randomToken, sha256 } from '../../src/values/crypto.ts';
import type { TestService } from './service.ts';

const HOUR_SECONDS = 3_600;

/**
 * An access token of a contact, written straight into the database, for tests that are not about signing in.
 * @param options `application`: the client_id of the application, which is created if it is missing
 */
export async function accessToken(
  test: Pick<TestService, 'query'>,
  contactId: string,
  seconds = HOUR_SECONDS,
  { application = 'written-tokens' } = {},
): Promise<string> {
  const token = randomToken();
  await test.query(
    `insert into applications (client_id, name, redirect_uris, refresh_token_days, created_at)
     values ($1, 'Tests', '{}', 28, now()) on conflict do nothing`,
    [application],
  );
  await test.query(
    `with made as (insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
       values ($4, $1, false, '{pwd}', now(), now()) returning id)
     insert into access_tokens (token_sha256, grant_id, application_id, contact_id, issued_at, expires_at)
     select $2, id, $4, $1, now(), now() + make_interval(secs => $3) from made`,
    [contactId, sha256(token), seconds, application],
  );
  return token;
}

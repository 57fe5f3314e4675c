import { randomUUID } from 'node:crypto';
import { randomToken, sha256 } from '../../src/values/crypto.ts';
import type { TestService } from './service.ts';
import { cookieOf, type Seen, Visitor } from './visitor.ts';

export type PageCall = (method: string, path: string, body?: object) => Promise<Seen>;

/** A browser that is signed in as a contact, written straight into the database, for tests that are not about signing in. */
export async function pageSession(service: TestService, contactId: string): Promise<Visitor & { call: PageCall }> {
  const secret = randomToken();
  await service.query(
    `with made as (insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
       values ('lombard-app', $1, false, '{pwd}', $5, $5) returning id),
     token as (insert into access_tokens (token_sha256, grant_id, application_id, contact_id, issued_at, expires_at)
       select $2, id, 'lombard-app', $1, $5, $5::timestamptz + interval '12 hours' from made)
     insert into page_sessions (id, secret_sha256, grant_id, contact_id, token_sha256, browser, created_at, last_active_at, expires_at)
     select $4, $3, id, $1, $2, 'test', $5, $5, $5::timestamptz + interval '12 hours' from made`,
    [contactId, sha256(randomToken()), sha256(secret), randomUUID(), service.service.context.clock.now()],
  );
  const visitor = new Visitor();
  visitor.cookies.set(cookieOf(service, 'app'), secret);
  const call: PageCall = (method, path, body) =>
    visitor.request(service.api + path, {
      method,
      headers: { 'x-lombard-page': '1', ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  return Object.assign(visitor, { call });
}

import { randomToken, sha256 } from '../crypto.ts';
import type { Db } from '../database.ts';

/** Seconds within which a code must be exchanged (the service interface, Limits). */
const CODE_LIFETIME = 600;

/** What a code will stand for when it is exchanged. */
export interface Authorization {
  applicationId: string;
  contactId: string;
  redirectUri: string;
  nonce: string | null;
  /** S256 challenge of PKCE. */
  codeChallenge: string | null;
  /** How the contact proved itself (RFC 8176): `pwd`, and `otp` or `sms`. */
  methods: string[];
  authenticatedAt: Date;
}

/**
 * Makes an authorization code, bound to application, contact, redirect address and challenge; stored as a hash. It does not wait for the
 * disk: a code that a crash of the database's machine forgets is a sign-in begun anew, as one that the crash interrupts.
 */
export async function issueCode(db: Db, authorization: Authorization, now: Date): Promise<string> {
  const code = randomToken();
  await db.query({
    name: 'issue_code',
    text: `with no_wait as materialized (select set_config('synchronous_commit', 'off', true))
      insert into authorization_codes
        (code_sha256, application_id, contact_id, redirect_uri, nonce, code_challenge, methods, authenticated_at, created_at, expires_at)
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
      new Date(now.getTime() + CODE_LIFETIME * 1_000),
    ],
  });
  return code;
}

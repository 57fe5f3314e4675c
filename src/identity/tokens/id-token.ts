import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Db, first } from '../../database/database.ts';
import { fieldsOf } from '../../values/unknown.ts';
import type { IssuedTokens } from './issued-tokens.ts';
import type { Session } from './sessions.ts';

const ID_TOKEN_LIFETIME_SECONDS = 3_600;
const HEADER = base64url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }));

/**
 * The id_token of a token response (service interface, POST /token; OpenID Connect Core, 2). It is signed with HS256; the key is the UTF-8
 * bytes of the client secret. The application could forge it, so this service accepts it only as a hint for sign-out.
 * @param input `secret`: the client secret with which the application authenticated
 */
export function idToken(issuer: string, input: { secret: string; tokens: IssuedTokens; now: Date }): string {
  const { secret, tokens, now } = input;
  const issuedAt = Math.floor(now.getTime() / 1_000);
  const claims = {
    iss: issuer,
    sub: tokens.contactId,
    aud: tokens.applicationId,
    iat: issuedAt,
    exp: issuedAt + ID_TOKEN_LIFETIME_SECONDS,
    auth_time: Math.floor(tokens.authenticatedAt.getTime() / 1_000),
    amr: tokens.methods,
    ...(tokens.nonce === null ? {} : { nonce: tokens.nonce }),
    clients: tokens.clients,
  };
  const content = `${HEADER}.${base64url(JSON.stringify(claims))}`;
  return `${content}.${sign(content, secret).toString('base64url')}`;
}

/** The claims of an id_token_hint that one of the secrets has signed, even if it has expired; undefined for any other text. */
export function readIdTokenHint(
  hint: string,
  issuer: string,
  secrets: string[],
): { sub: string; aud: string } | undefined {
  const [header, payload, signature, ...rest] = hint.split('.');
  if (!header || !payload || !signature || rest.length > 0) return undefined;
  const actual = Buffer.from(signature, 'base64url');
  const signed = secrets.some((secret) => {
    const expected = sign(`${header}.${payload}`, secret);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  });
  if (!signed) return undefined;
  const { alg } = parse(header);
  const { iss, sub, aud } = parse(payload);
  if (alg !== 'HS256' || iss !== issuer || typeof sub !== 'string' || typeof aud !== 'string') return undefined;
  return { sub, aud };
}

/** The audience in an id_token. Its signature is not checked. */
export function audienceOf(hint: string): string | undefined {
  const { aud } = parse(hint.split('.')[1] ?? '');
  return typeof aud === 'string' ? aud : undefined;
}

function parse(part: string): ReturnType<typeof fieldsOf> {
  try {
    return fieldsOf(JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}

function sign(content: string, secret: string): Buffer {
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(content).digest();
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}

/** The claims of a contact (OpenID Connect Core, 5.3). */
export interface Userinfo {
  sub: string;
  name?: string;
  email?: string;
  clients: { client_id: string; client_name: string }[];
}

/** The claims of the contact that a session belongs to. */
export async function findUserinfo(db: Db, session: Session): Promise<Userinfo> {
  const contact = first(
    await db.query<{ name: string; email: string }>('select name, email from contacts where contact_id = $1', [
      session.contactId,
    ]),
  );
  const clients = [...session.clients].map(([client_id, { name }]) => ({ client_id, client_name: name }));
  return { sub: session.contactId, ...contact, clients };
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IssuedTokens } from './tokens.ts';

/** Seconds. */
const ID_TOKEN_LIFETIME = 3_600;
const HEADER = base64url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }));

/**
 * The id_token of an answer (the service interface, POST /token; OpenID Connect Core, 2): HS256 with the UTF-8 bytes of the client
 * secret. The application could forge it, so nothing here ever accepts one as proof of anything but a wish to sign out.
 * @param secret the client secret that the application authenticated with
 */
export function idToken(issuer: string, secret: string, tokens: IssuedTokens, now: Date): string {
  const issuedAt = Math.floor(now.getTime() / 1_000);
  const claims = {
    iss: issuer,
    sub: tokens.contactId,
    aud: tokens.applicationId,
    iat: issuedAt,
    exp: issuedAt + ID_TOKEN_LIFETIME,
    auth_time: Math.floor(tokens.authenticatedAt.getTime() / 1_000),
    amr: tokens.methods,
    ...(tokens.nonce === null ? {} : { nonce: tokens.nonce }),
    clients: tokens.clients,
  };
  const content = `${HEADER}.${base64url(JSON.stringify(claims))}`;
  return `${content}.${sign(content, secret).toString('base64url')}`;
}

/**
 * The claims of an id_token that one of these secrets signed, whatever its age; undefined for anything else. A hint for sign-out.
 */
export function readIdTokenHint(
  hint: string,
  issuer: string,
  secrets: string[],
): { sub: string; aud: string } | undefined {
  const [header, payload, signature, ...rest] = hint.split('.');
  if (!header || !payload || !signature || rest.length > 0) return undefined;
  const given = Buffer.from(signature, 'base64url');
  const signed = secrets.some((secret) => {
    const wanted = sign(`${header}.${payload}`, secret);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
  if (!signed) return undefined;
  const { alg } = parse(header);
  const { iss, sub, aud } = parse(payload);
  if (alg !== 'HS256' || iss !== issuer || typeof sub !== 'string' || typeof aud !== 'string') return undefined;
  return { sub, aud };
}

/** The audience that an id_token names, unproven. */
export function audienceOf(hint: string): string | undefined {
  const { aud } = parse(hint.split('.')[1] ?? '');
  return typeof aud === 'string' ? aud : undefined;
}

function parse(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
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

import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { randomToken } from '../../crypto.ts';

/** `browser` identifies a browser that opened a page; `session` is its single sign-on session. */
type CookieName = 'browser' | 'session';
const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

/** The prefix `__Host-` stops other hosts of the domain from setting the cookie. Browsers accept it over https only. */
function cookieName(context: Context, name: CookieName): string {
  return context.addresses.auth.startsWith('https:') ? `__Host-lombard-${name}` : `lombard-${name}`;
}

/** The value of a cookie; undefined where it is missing or is not a value that this server sets. */
export function readCookie(request: FastifyRequest, context: Context, name: CookieName): string | undefined {
  const wanted = `${cookieName(context, name)}=`;
  const found = (request.headers.cookie ?? '')
    .split(';')
    .map((item) => item.trim())
    .find((item) => item.startsWith(wanted));
  const value = found?.slice(wanted.length);
  return value !== undefined && COOKIE_VALUE.test(value) ? value : undefined;
}

/**
 * The header Set-Cookie.
 * @param cookie `maxAgeSeconds`: undefined keeps the cookie until the browser closes; 0 deletes it
 */
export function setCookie(
  context: Context,
  { name, value, maxAgeSeconds }: { name: CookieName; value: string; maxAgeSeconds?: number },
): string {
  const secure = context.addresses.auth.startsWith('https:') ? '; Secure' : '';
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${cookieName(context, name)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}${age}`;
}

/** The value of the browser's cookie. A browser without one gets a new value, and `header` is its Set-Cookie. */
export function browserOf(request: FastifyRequest, context: Context): { browser: string; header: string | undefined } {
  const known = readCookie(request, context, 'browser');
  if (known !== undefined) return { browser: known, header: undefined };
  const browser = randomToken();
  return { browser, header: setCookie(context, { name: 'browser', value: browser }) };
}

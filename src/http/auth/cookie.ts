import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { randomToken } from '../../values/crypto.ts';
import { type CookieOf, cookieOf, setCookieHeader } from '../server/cookie.ts';

/** `browser` identifies a browser that opened a page. `session` is its single sign-on session. */
type CookieName = 'browser' | 'session';
const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

function cookie(context: Context, name: CookieName): CookieOf {
  return { name, address: context.addresses.auth };
}

/** The value of a cookie; undefined if it is missing or not a value that this server sets. */
export function readCookie(request: FastifyRequest, context: Context, name: CookieName): string | undefined {
  return cookieOf(request, cookie(context, name), COOKIE_VALUE);
}

/**
 * The header Set-Cookie.
 * @param set `maxAgeSeconds`: undefined keeps the cookie until the browser closes; 0 deletes it
 */
export function setCookie(context: Context, set: { name: CookieName; value: string; maxAgeSeconds?: number }): string {
  return setCookieHeader(cookie(context, set.name), set.value, set.maxAgeSeconds);
}

/** The value of the browser's cookie. A browser without one gets a new value, and `header` is the Set-Cookie header for it. */
export function browserOf(request: FastifyRequest, context: Context): { browser: string; header: string | undefined } {
  const known = readCookie(request, context, 'browser');
  if (known !== undefined) return { browser: known, header: undefined };
  const browser = randomToken();
  return { browser, header: setCookie(context, { name: 'browser', value: browser }) };
}

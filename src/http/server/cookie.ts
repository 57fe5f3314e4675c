import type { FastifyRequest } from 'fastify';

/** A cookie of the service: its purpose, such as `app`, and the public address of the listener that sets it. */
export interface CookieOf {
  name: string;
  address: string;
}

/**
 * The cookie's name in the browser. Browsers send a cookie to every port of a host, so the name includes the port and the path of the
 * address. Otherwise installations on one host would overwrite each other's cookies. The prefix `__Host-` stops other hosts of the domain
 * from setting it; browsers accept it only over https.
 */
export function cookieName({ name, address }: CookieOf): string {
  const { protocol, port, pathname } = new URL(address);
  const place = [port, ...pathname.split('/')]
    .filter((part) => part !== '')
    .map((part) => part.replace(/[^\w-]/g, '_'));
  return `${protocol === 'https:' ? '__Host-' : ''}${['lombard', ...place, name].join('-')}`;
}

/** The value of a cookie; undefined if it is missing or does not have the form of the values that the service sets. */
export function cookieOf(request: FastifyRequest, cookie: CookieOf, form: RegExp): string | undefined {
  const wanted = `${cookieName(cookie)}=`;
  const found = (request.headers.cookie ?? '')
    .split(';')
    .map((item) => item.trim())
    .find((item) => item.startsWith(wanted));
  const value = found?.slice(wanted.length);
  return value !== undefined && form.test(value) ? value : undefined;
}

/** What follows `<name>-` in the names of a request's cookies, in the request's order. */
export function cookieSuffixes(request: FastifyRequest, cookie: CookieOf): string[] {
  const start = `${cookieName(cookie)}-`;
  return (request.headers.cookie ?? '')
    .split(';')
    .map((item) => item.trim().split('=', 1)[0] ?? '')
    .filter((name) => name.startsWith(start) && /^[A-Za-z0-9_-]+$/.test(name.slice(start.length)))
    .map((name) => name.slice(start.length));
}

/**
 * The header Set-Cookie for a cookie that no script can read and no form of another site can send.
 * @param maxAgeSeconds undefined keeps the cookie until the browser closes; 0 deletes it
 */
export function setCookieHeader(cookie: CookieOf, value: string, maxAgeSeconds?: number): string {
  const secure = cookie.address.startsWith('https:') ? '; Secure' : '';
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${cookieName(cookie)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}${age}`;
}

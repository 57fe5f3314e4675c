import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { Problem } from '../../errors.ts';
import { findPageSession, type PageSession } from '../../identity/page-session.ts';
import { type CookieOf, cookieOf, setCookieHeader } from '../cookie.ts';

const SECRET = /^[A-Za-z0-9_-]{43}$/;

function cookie({ addresses }: Context): CookieOf {
  return { name: 'lombard-app', address: addresses.api };
}

function secretOf(context: Context, request: FastifyRequest): string | undefined {
  return cookieOf(request, cookie(context), SECRET);
}

/** The header Set-Cookie of a session. @param secret undefined deletes the cookie */
export function sessionCookie(context: Context, secret: string | undefined): string {
  return secret === undefined ? setCookieHeader(cookie(context), '', 0) : setCookieHeader(cookie(context), secret);
}

/** The session of a browser; undefined where it has none that is in force. @param active the person has done something */
export async function sessionOf(
  context: Context,
  request: FastifyRequest,
  active = false,
): Promise<PageSession | undefined> {
  const secret = secretOf(context, request);
  if (secret === undefined) return undefined;
  const { pool, clock, config } = context;
  return findPageSession(pool, secret, { now: clock.now(), idleMs: config.appIdle, active });
}

/** As `sessionOf`. @throws Problem authentication_failed where there is none; permission_denied as `requirePage` */
export async function requireSession(context: Context, request: FastifyRequest, active = false): Promise<PageSession> {
  const session = await sessionOf(context, request, active);
  if (!session) throw new Problem('authentication_failed', 'the browser is not signed in, or its session is over');
  requirePage(context, request);
  return session;
}

/**
 * Refuses a call that another site's page makes with the browser's cookie. A change needs the header `X-Lombard-Page: 1` as well, which no
 * form can send and no other origin may.
 * @throws Problem permission_denied
 */
function requirePage({ addresses }: Context, { method, headers }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site, 'x-lombard-page': page } = headers;
  if (origin !== undefined && origin !== new URL(addresses.api).origin)
    throw new Problem('permission_denied', 'header.Origin: is not the origin of the pages');
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new Problem('permission_denied', 'header.Sec-Fetch-Site: the pages call from their own origin only');
  if (method !== 'GET' && method !== 'HEAD' && page !== '1')
    throw new Problem('permission_denied', 'header.X-Lombard-Page: must be 1 where something is changed');
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { findPageSession, type PageSession, whyPageSessionEnded } from '../../identity/sign-in/page-session.ts';
import type { Session, Sessions } from '../../identity/tokens/sessions.ts';
import { Problem } from '../../values/errors.ts';
import { requireOwnPage, requireSamePerson } from '../page/own-page.ts';
import { PageCalls } from '../page/page-calls.ts';
import { type CookieOf, cookieOf, setCookieHeader } from '../server/cookie.ts';

const SECRET = /^[A-Za-z0-9_-]{43}$/;

function cookie({ addresses }: Context): CookieOf {
  return { name: 'app', address: addresses.api };
}

function secretOf(context: Context, request: FastifyRequest): string | undefined {
  return cookieOf(request, cookie(context), SECRET);
}

/** The header Set-Cookie of a session. @param secret undefined deletes the cookie */
export function sessionCookie(context: Context, secret: string | undefined): string {
  return secret === undefined ? setCookieHeader(cookie(context), '', 0) : setCookieHeader(cookie(context), secret);
}

/** The valid session of a browser; undefined if it has none. @param active whether the person has just done something */
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

/** Tells a page why its session is over. With `idle` the page tells the person. The header is `X-Lombard-Session-End`. */
export async function tellSessionEnd(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const secret = secretOf(context, request);
  if (secret === undefined) return;
  const { pool, clock, config } = context;
  const end = await whyPageSessionEnded(pool, secret, { now: clock.now(), idleMs: config.appIdle });
  reply.header('x-lombard-session-end', end);
}

/** Like `sessionOf`. @throws Problem authentication_failed if there is none, and like `requireSamePerson`; permission_denied like `requireOwnPage` */
export async function requireSession(context: Context, request: FastifyRequest, active = false): Promise<PageSession> {
  const session = await sessionOf(context, request, active);
  if (!session) throw new Problem('authentication_failed', 'the browser is not signed in, or its session is over');
  requireOwnPage(context.addresses.api, request);
  requireSamePerson(session.contact_id, request);
  return session;
}

/** The addresses under which the pages call the client API, with their cookie in place of a token. */
export const APP_CALLS = new PageCalls('/app/api');

/** The rights of a call from the pages: those of an access token of the person for `lombard-app`. @throws Problem like `requireSession` */
export async function sessionOfCall(context: Context, request: FastifyRequest, sessions: Sessions): Promise<Session> {
  return sessions.findStored((await requireSession(context, request)).token_sha256);
}

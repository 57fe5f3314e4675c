import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import type { Operator } from '../../operator/operator.ts';
import { findStaffSession, rolesOf, type StaffSession, whyStaffSessionEnded } from '../../operator/staff-session.ts';
import type { OperatorRole } from '../../settings/staff-settings.ts';
import { sha256 } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { requireOwnPage, requireSamePerson } from '../page/own-page.ts';
import { PageCalls } from '../page/page-calls.ts';
import { type CookieOf, cookieOf, setCookieHeader } from '../server/cookie.ts';

const SECRET = /^[A-Za-z0-9_-]{43}$/;

function cookie({ addresses }: Context): CookieOf {
  return { name: 'console', address: addresses.operator };
}

/** The header Set-Cookie of a session. @param secret undefined deletes the cookie */
export function staffCookie(context: Context, secret: string | undefined): string {
  return secret === undefined ? setCookieHeader(cookie(context), '', 0) : setCookieHeader(cookie(context), secret);
}

/**
 * The valid session of a browser. Undefined if it has none, or if it began with a kind of sign-in that the configuration no longer allows.
 * @param active whether the person has just done something
 */
export async function staffSessionOf(
  context: Context,
  request: FastifyRequest,
  active = false,
): Promise<StaffSession | undefined> {
  const secret = cookieOf(request, cookie(context), SECRET);
  if (secret === undefined) return undefined;
  const { pool, clock, config } = context;
  const session = await findStaffSession(pool, secret, { now: clock.now(), idleMs: config.appIdle, active });
  // The tokens may spell the issuer slightly differently from the configuration.
  const fits = (session?.person === null) === (config.staff === undefined);
  return session && fits && scopesOf(context, session).scopes.length > 0 ? session : undefined;
}

/** Tells a page why its session is over. With `idle` the page tells the person. The header is `X-Lombard-Session-End`. */
export async function tellStaffSessionEnd(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const secret = cookieOf(request, cookie(context), SECRET);
  if (secret === undefined) return;
  const { pool, clock, config } = context;
  const end = await whyStaffSessionEnded(pool, secret, { now: clock.now(), idleMs: config.appIdle });
  reply.header('x-lombard-session-end', end);
}

/**
 * Like `staffSessionOf`.
 * @throws Problem authentication_failed if there is none, and like `requireSamePerson`; permission_denied like `requireOwnPage`
 */
export async function requireStaff(context: Context, request: FastifyRequest, active = false): Promise<StaffSession> {
  const session = await staffSessionOf(context, request, active);
  if (!session) throw new Problem('authentication_failed', 'the browser is not signed in, or its session is over');
  requireOwnPage(context.addresses.operator, request);
  requireSamePerson(personOf(session), request);
  return session;
}

/** Distinguishes persons and tokens without revealing who it is, because the provider's subject may be an email. */
export function personOf({ token, person }: StaffSession): string {
  const who = token ? ['token', token.id] : ['person', person?.issuer, person?.subject];
  return sha256(JSON.stringify(who)).toString('hex');
}

/** The person as an operator, with the roles of the current configuration, or the current scopes of the token. */
export function operatorOf(context: Context, session: StaffSession): Operator {
  const { id: sessionId, token, person } = session;
  const { scopes } = scopesOf(context, session);
  if (token) return { name: token.name, actor: `operator:${token.name}`, scopes, tokenId: token.id, sessionId };
  const { name = '', issuer = '', subject = '' } = person ?? {};
  return { name, actor: `staff:${name}`, scopes, staff: { issuer, subject }, sessionId };
}

/** The roles and scopes of a session. */
export function scopesOf(
  { config }: Context,
  { token, person }: StaffSession,
): Pick<Operator, 'scopes'> & { roles: OperatorRole[] } {
  if (token) return { roles: token.role ? [token.role] : [], scopes: token.scopes };
  return rolesOf(config.staff?.roles ?? [], person?.claims ?? {});
}

/** The addresses under which the institution's pages call the operator interface, with their cookie in place of a token. */
export const CONSOLE_CALLS = new PageCalls('/console/api');

/** The operator behind a call of the pages, with its scopes. @throws Problem like `requireStaff` */
export async function operatorOfCall(context: Context, request: FastifyRequest): Promise<Operator> {
  return operatorOf(context, await requireStaff(context, request));
}

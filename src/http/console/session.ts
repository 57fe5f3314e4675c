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
 * The session of a browser; undefined where it has none that is in force, or where it began in a way that the configuration no longer has.
 * @param active the person has done something
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
  // The issuer of the tokens can write its own name a little differently from the address of the configuration.
  const fits = (session?.person === null) === (config.staff === undefined);
  return session && fits && scopesOf(context, session).scopes.length > 0 ? session : undefined;
}

/** Tells a page whose session is over why: with `idle` it says so to the person. The header is `X-Lombard-Session-End`. */
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

/** As `staffSessionOf`. @throws Problem authentication_failed where there is none, as `requireSamePerson`; permission_denied as `requireOwnPage` */
export async function requireStaff(context: Context, request: FastifyRequest, active = false): Promise<StaffSession> {
  const session = await staffSessionOf(context, request, active);
  if (!session) throw new Problem('authentication_failed', 'the browser is not signed in, or its session is over');
  requireOwnPage(context.addresses.operator, request);
  requireSamePerson(personOf(session), request);
  return session;
}

/** Tells persons and tokens apart, without saying who it is: the provider's subject can be an email. */
export function personOf({ token, person }: StaffSession): string {
  const who = token ? ['token', token.id] : ['person', person?.issuer, person?.subject];
  return sha256(JSON.stringify(who)).toString('hex');
}

/** Who the person is, as an operator: the roles are those of the configuration now, a token's scopes those of the token now. */
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

/** The institution's pages call the operator interface here, with their cookie in place of a token. */
export const CONSOLE_CALLS = new PageCalls('/console/api');

/** Who makes a call of the pages, and what they may do. @throws Problem as `requireStaff` */
export async function operatorOfCall(context: Context, request: FastifyRequest): Promise<Operator> {
  return operatorOf(context, await requireStaff(context, request));
}

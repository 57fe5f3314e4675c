import { TextDecoder } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { randomToken } from '../../crypto.ts';
import { ApplicationCredentials, type RegisteredApplication } from '../../identity/application-credentials.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import { Parameters } from '../../identity/parameters.ts';
import type { Sessions } from '../../identity/sessions.ts';

/** What the routes of the authorization server share. */
export interface Identity {
  context: Context;
  sessions: Sessions;
  applications: ApplicationCredentials;
}

export function createIdentity(context: Context, sessions: Sessions): Identity {
  return {
    context,
    sessions,
    applications: new ApplicationCredentials(context.pool, context.vault, context.clock, sessions.freshness),
  };
}

/** Bodies of a scope are forms and nothing else: `request.body` is `Parameters`, or undefined where there is no body. */
export function readForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, new Parameters(new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer)));
    } catch {
      done(new OAuthError('invalid_request', 'the body must be a form in UTF-8'));
    }
  });
}

export function form(request: FastifyRequest): Parameters {
  return request.body instanceof Parameters ? request.body : new Parameters('');
}

export function query(request: FastifyRequest): Parameters {
  const start = request.url.indexOf('?');
  return new Parameters(start < 0 ? '' : request.url.slice(start + 1));
}

/** @throws OAuthError invalid_request where the application is unknown or disabled; never a redirect (docs/decisions.md, 7) */
export async function applicationOf(
  applications: ApplicationCredentials,
  clientId: string,
): Promise<RegisteredApplication> {
  const application = await applications.find(clientId);
  if (!application) throw new OAuthError('invalid_request', 'client_id: is not a registered application');
  return application;
}

/**
 * Refuses a form that another site's page sends: signing a visitor in to somebody else's account, or out, must not work from afar.
 * Programs send neither header.
 * @throws OAuthError invalid_request
 */
export function refuseForeign(request: FastifyRequest, context: Context): void {
  const site = request.headers['sec-fetch-site'];
  const origin = request.headers.origin;
  const foreignSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  const foreignOrigin = origin !== undefined && origin !== new URL(context.addresses.auth).origin;
  if (foreignSite || foreignOrigin) {
    throw new OAuthError('invalid_request', 'the form was sent by a page of another origin', {
      status: 403,
      refusal: 'foreign',
    });
  }
}

type CookieName = 'browser' | 'session';
const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

/** `__Host-` keeps other hosts of the domain from planting one; browsers allow it over https only. */
function cookieName(context: Context, name: CookieName): string {
  return context.addresses.auth.startsWith('https:') ? `__Host-lombard-${name}` : `lombard-${name}`;
}

export function readCookie(request: FastifyRequest, context: Context, name: CookieName): string | undefined {
  const wanted = `${cookieName(context, name)}=`;
  const found = (request.headers.cookie ?? '')
    .split(';')
    .map((item) => item.trim())
    .find((item) => item.startsWith(wanted));
  const value = found?.slice(wanted.length);
  return value !== undefined && COOKIE_VALUE.test(value) ? value : undefined;
}

/** @param maxAge seconds; undefined: until the browser ends; 0: forget it */
export function cookie(context: Context, name: CookieName, value: string, maxAge?: number): string {
  const secure = context.addresses.auth.startsWith('https:') ? '; Secure' : '';
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`;
  return `${cookieName(context, name)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}${age}`;
}

/** The browser's cookie, or a new one to be set. */
export function browserOf(
  request: FastifyRequest,
  context: Context,
): { browser: string; setCookie: string | undefined } {
  const known = readCookie(request, context, 'browser');
  if (known !== undefined) return { browser: known, setCookie: undefined };
  const browser = randomToken();
  return { browser, setCookie: cookie(context, 'browser', browser) };
}

/** An address of the application with parameters added to whatever it has. */
export function withParameters(address: string, parameters: Record<string, string | undefined>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) added.set(name, value);
  const text = added.toString();
  return text === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${text}`;
}

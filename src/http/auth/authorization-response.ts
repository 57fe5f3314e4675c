import type { FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError } from '../../identity/oauth-error.ts';
import type { Parameters } from '../../identity/parameters.ts';
import { openChallenge } from '../../identity/second-factor/second-factor-challenge.ts';
import { MAX_STATE_LENGTH } from '../../identity/sign-in/authorization-request.ts';
import { BROWSER_SESSION_LIFETIME_SECONDS, beginBrowserSession } from '../../identity/sign-in/browser-session.ts';
import { type Authorization, issueCode } from '../../identity/tokens/authorization-code.ts';
import type { Language } from '../../values/language.ts';
import type { AuthContext } from './auth-context.ts';
import { setCookie } from './cookie.ts';
import { ascii, sendOAuthError, toOAuthError } from './errors.ts';
import { wantsCode } from './form.ts';
import { TEXTS } from './pages/texts.ts';
import { noteSignIn } from './sign-in-journal.ts';

/** A sign-in with a correct password. */
export interface SignIn extends Omit<Authorization, 'methods' | 'authenticatedAt'> {
  state: string;
  secondFactor: 'none' | 'totp' | 'sms';
  /** The cookie of the browser that signs in on a page; undefined for a headless sign-in. */
  browser: string | undefined;
  page: boolean;
  language: Language;
}

/** Continues after a correct password: with the authorization code, or with the second factor. */
export async function continueSignIn(
  auth: AuthContext,
  request: FastifyRequest,
  reply: FastifyReply,
  signIn: SignIn,
): Promise<FastifyReply> {
  const { context } = auth;
  const { secondFactor, language, contactId, applicationId: application } = signIn;
  if (secondFactor === 'none') return completeSignIn(auth, request, reply, { ...signIn, methods: ['pwd'] });
  const message = (code: string) => TEXTS[language].message(context.config.institution.name, code);
  const challenge = await openChallenge(context, { ...signIn, kind: secondFactor, message });
  noteSignIn(context, request, { outcome: 'second_factor_required', contactId, application });
  reply.header('cache-control', 'no-store');
  if (wantsCode(request)) return reply.send({ code: challenge, second_factor: secondFactor });
  const address = withParameters(`${context.addresses.auth}/2fa`, {
    code: challenge,
    client_id: application,
    ui_locales: signIn.page ? language : undefined,
  });
  return reply.redirect(address, 302);
}

/** Ends a sign-in: sends the authorization code to the application, and begins a browser session if single sign-on is allowed. */
export async function completeSignIn(
  auth: AuthContext,
  request: FastifyRequest,
  reply: FastifyReply,
  signIn: Omit<Authorization, 'authenticatedAt'> & { state: string; page: boolean },
): Promise<FastifyReply> {
  const { context } = auth;
  const { applicationId, contactId, methods } = signIn;
  const now = context.clock.now();
  const code = await issueCode(context.pool, { ...signIn, authenticatedAt: now }, now);
  request.log.info({ application: applicationId, contact: contactId, methods }, 'signed in');
  noteSignIn(context, request, { outcome: 'ok', contactId, application: applicationId });
  if (wantsCode(request)) return reply.header('cache-control', 'no-store').send({ code });
  if (signIn.page && context.config.singleSignOn) {
    const value = await beginBrowserSession(context.pool, { contactId, methods, authenticatedAt: now });
    const maxAgeSeconds = BROWSER_SESSION_LIFETIME_SECONDS;
    reply.header('set-cookie', setCookie(context, { name: 'session', value, maxAgeSeconds }));
  }
  return redirectToApplication(auth, reply, signIn.redirectUri, { code, state: signIn.state });
}

/** Sends the browser back to the application. `iss` identifies the server that answered (RFC 9207). */
export function redirectToApplication(
  { context }: AuthContext,
  reply: FastifyReply,
  redirectUri: string,
  parameters: Record<string, string | undefined>,
): FastifyReply {
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  return reply.redirect(withParameters(redirectUri, { ...parameters, iss: context.addresses.auth }), 302);
}

/** The error codes that a redirect may carry (RFC 6749, 4.1.2.1; OpenID Connect Core, 3.1.2.6). */
const REDIRECTABLE = new Set([
  'invalid_request',
  'unauthorized_client',
  'access_denied',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'login_required',
  'request_not_supported',
  'request_uri_not_supported',
]);

/**
 * Sends the browser back to the application with an error. `parameters` are those of the request; their state is returned too. A failure of
 * this service is answered with 502 instead, so that monitoring sees it.
 */
export function redirectError(
  auth: AuthContext,
  reply: FastifyReply,
  error: unknown,
  { redirectUri, parameters }: { redirectUri: string; parameters: Parameters },
): FastifyReply {
  const refused = toOAuthError(error);
  if (refused.status >= 500) {
    if (error instanceof OAuthError) return sendOAuthError(reply, refused);
    throw error;
  }
  const code = REDIRECTABLE.has(refused.code) ? refused.code : 'access_denied';
  return redirectToApplication(auth, reply, redirectUri, {
    error: code,
    error_description: ascii(refused.message),
    state: stateOf(parameters),
  });
}

/** The state of a request, or undefined if it is missing or malformed. */
function stateOf(parameters: Parameters): string | undefined {
  try {
    return parameters.get('state', MAX_STATE_LENGTH);
  } catch {
    return undefined;
  }
}

/** Adds parameters to an address. */
export function withParameters(address: string, parameters: Record<string, string | undefined>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) added.set(name, value);
  const text = added.toString();
  return text === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${text}`;
}

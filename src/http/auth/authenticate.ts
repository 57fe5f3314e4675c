import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RegisteredApplication } from '../../identity/application-credentials.ts';
import { type Authorization, issueCode } from '../../identity/authorization-code.ts';
import {
  checkRequest,
  findRequest,
  keepRequest,
  promptingOf,
  redirectUriOf,
} from '../../identity/authorization-request.ts';
import { BROWSER_SESSION_LIFETIME, beginBrowserSession, findBrowserSession } from '../../identity/browser-session.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import type { Parameters } from '../../identity/parameters.ts';
import { openHandle } from '../../identity/second-factor.ts';
import { checkPassword } from '../../identity/sign-in.ts';
import { ascii, sendOAuthError, toOAuthError, wantsCode } from './errors.ts';
import type { Pages, SignInForm } from './pages/pages.ts';
import { LANGUAGES, languageOf } from './pages/texts.ts';
import {
  applicationOf,
  browserOf,
  cookie,
  form,
  type Identity,
  query,
  readCookie,
  refuseForeign,
  withParameters,
} from './requests.ts';

/** GET and POST /authenticate, and its alias POST /login (the service interface, Authentication; docs/decisions.md, 7). */
export function authenticateRoutes(app: FastifyInstance, identity: Identity, pages: Pages): void {
  app.get('/authenticate', { config: { page: true } }, (request, reply) => showPage(identity, pages, request, reply));
  for (const path of ['/authenticate', '/login']) {
    app.post(path, { config: { page: true } }, (request, reply) => {
      refuseForeign(request, identity.context);
      const fields = form(request);
      const requestId = fields.get('request');
      return requestId === undefined
        ? signInHeadless(identity, request, reply, fields)
        : signInByPage(identity, pages, request, reply, fields, requestId);
    });
  }
}

async function showPage(
  identity: Identity,
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, applications } = identity;
  const parameters = query(request);
  const application = await applicationOf(applications, parameters.require('client_id'));
  const redirectUri = redirectUriOf(parameters, application, false);
  try {
    const asked = checkRequest(parameters, application, redirectUri, {
      headless: false,
      requirePkce: context.config.requirePkce,
    });
    const prompting = promptingOf(parameters);
    const now = context.clock.now();
    if (context.config.singleSignOn) {
      const session = await findBrowserSession(context.pool, readCookie(request, context, 'session'), prompting, now);
      if (session) {
        const code = await issueCode(context.pool, { ...asked, ...session, applicationId: application.id }, now);
        return redirect(identity, reply, redirectUri, { code, state: asked.state });
      }
    }
    if (prompting.none) throw new OAuthError('login_required', 'the browser is not signed in');
    const { browser, setCookie } = browserOf(request, context);
    const id = await keepRequest(context.pool, asked, browser, now);
    if (setCookie) reply.header('set-cookie', setCookie);
    const language = languageOf(parameters.get('ui_locales'), request.headers['accept-language']);
    const hint = parameters.get('login_hint', 254) ?? '';
    const page = pages.signIn(
      language,
      signInForm(identity, application, { id, ...asked, email: hint, refused: undefined }),
    );
    return pages.send(reply, 200, page, redirectUri);
  } catch (error) {
    return redirectError(identity, reply, redirectUri, stateOf(parameters), error);
  }
}

function signInForm(
  { context }: Identity,
  application: RegisteredApplication,
  given: { id: string; state: string; redirectUri: string; email: string; refused: SignInForm['refused'] },
): SignInForm {
  return {
    action: `${context.addresses.auth}/authenticate`,
    request: given.id,
    clientId: application.id,
    application: application.name,
    state: given.state,
    redirectUri: given.redirectUri,
    email: given.email,
    refused: given.refused,
  };
}

async function signInByPage(
  identity: Identity,
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
  fields: Parameters,
  id: string,
): Promise<FastifyReply> {
  const { context, applications } = identity;
  const { pool, clock } = context;
  const browser = readCookie(request, context, 'browser');
  const [clientId, state] = [fields.require('client_id'), fields.require('state')];
  const kept = await findRequest(pool, { id, browser, clientId, state, now: clock.now() });
  const application = await applicationOf(applications, kept.applicationId);
  const language = languageOf(fields.get('ui_locales'), request.headers['accept-language']);
  const [email, password] = [fields.raw('email'), fields.raw('password')];
  const again = (refused: NonNullable<SignInForm['refused']>, status: number) => {
    const shown = (email ?? '').slice(0, 254);
    return pages.send(
      reply,
      status,
      pages.signIn(language, signInForm(identity, application, { ...kept, id, email: shown, refused })),
      kept.redirectUri,
    );
  };
  if (email === undefined || password === undefined) return again('incomplete', 400);
  try {
    const signedIn = await checkPassword(pool, clock, email, password);
    return await finish(identity, request, reply, { ...kept, ...signedIn, browser, page: true, language });
  } catch (error) {
    if (!(error instanceof OAuthError) || error.refusal === undefined) throw error;
    request.log.info({ requestId: request.id, application: application.id, refusal: error.refusal }, 'sign-in refused');
    if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter));
    return again(error.refusal, error.status);
  }
}

/** A POST without a page behind it: a program of the application asked its user for email and password itself. */
async function signInHeadless(
  identity: Identity,
  request: FastifyRequest,
  reply: FastifyReply,
  fields: Parameters,
): Promise<FastifyReply> {
  const { context, applications } = identity;
  const application = await applicationOf(applications, fields.require('client_id'));
  if (!application.headlessSignIn) {
    throw new OAuthError(
      'unauthorized_client',
      'the application must send its users to the sign-in page (GET /authenticate)',
    );
  }
  const redirectUri = redirectUriOf(fields, application, true);
  try {
    const asked = checkRequest(fields, application, redirectUri, {
      headless: true,
      requirePkce: context.config.requirePkce,
    });
    const [email, password] = [fields.raw('email'), fields.raw('password')];
    if (email === undefined || password === undefined)
      throw new OAuthError('invalid_request', 'email, password: are required');
    const signedIn = await checkPassword(context.pool, context.clock, email, password);
    const language = languageOf(fields.get('ui_locales'), request.headers['accept-language']);
    return await finish(identity, request, reply, {
      ...asked,
      ...signedIn,
      applicationId: application.id,
      browser: undefined,
      page: false,
      language,
    });
  } catch (error) {
    if (!(error instanceof OAuthError) || wantsCode(request)) throw error;
    request.log.info({ requestId: request.id, application: application.id, refusal: error.refusal }, 'sign-in refused');
    return redirectError(identity, reply, redirectUri, stateOf(fields), error);
  }
}

type Finish = Omit<Authorization, 'methods' | 'authenticatedAt'> & {
  state: string;
  secondFactor: 'none' | 'totp' | 'sms';
  browser: string | undefined;
  page: boolean;
  language: keyof typeof LANGUAGES;
};

/** The password was right: the code, or the second step. */
async function finish(
  identity: Identity,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Finish,
): Promise<FastifyReply> {
  const { context } = identity;
  if (done.secondFactor === 'none') return complete(identity, request, reply, { ...done, methods: ['pwd'] });
  const text = (code: string) => LANGUAGES[done.language].message(context.config.institution.name, code);
  const handle = await openHandle(context, { ...done, kind: done.secondFactor, text });
  if (wantsCode(request))
    return reply.header('cache-control', 'no-store').send({ code: handle, second_factor: done.secondFactor });
  const address = withParameters(`${context.addresses.auth}/2fa`, {
    code: handle,
    client_id: done.applicationId,
    ui_locales: done.page ? done.language : undefined,
  });
  return reply.header('cache-control', 'no-store').redirect(address, 302);
}

/** Everything was right: the authorization code goes to the application, and the browser is remembered where that is allowed. */
export async function complete(
  identity: Identity,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Omit<Authorization, 'authenticatedAt'> & { state: string; page: boolean },
): Promise<FastifyReply> {
  const { context } = identity;
  const now = context.clock.now();
  const code = await issueCode(context.pool, { ...done, authenticatedAt: now }, now);
  request.log.info(
    { requestId: request.id, application: done.applicationId, contact: done.contactId, methods: done.methods },
    'signed in',
  );
  if (wantsCode(request)) return reply.header('cache-control', 'no-store').send({ code });
  if (done.page && context.config.singleSignOn) {
    const session = await beginBrowserSession(context.pool, {
      contactId: done.contactId,
      methods: done.methods,
      authenticatedAt: now,
    });
    reply.header('set-cookie', cookie(context, 'session', session, BROWSER_SESSION_LIFETIME));
  }
  return redirect(identity, reply, done.redirectUri, { code, state: done.state });
}

/** Answers the application by its user's browser; `iss` tells it who answered (RFC 9207). */
function redirect(
  { context }: Identity,
  reply: FastifyReply,
  redirectUri: string,
  parameters: Record<string, string | undefined>,
): FastifyReply {
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  return reply.redirect(withParameters(redirectUri, { ...parameters, iss: context.addresses.auth }), 302);
}

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

function redirectError(
  identity: Identity,
  reply: FastifyReply,
  redirectUri: string,
  state: string | undefined,
  error: unknown,
): FastifyReply {
  const refused = toOAuthError(error);
  // A lost database must be seen as one by whoever watches the answers: 502, as everywhere.
  if (refused.status >= 500) {
    if (error instanceof OAuthError) return sendOAuthError(reply, refused);
    throw error;
  }
  const code = REDIRECTABLE.has(refused.code) ? refused.code : 'access_denied';
  return redirect(identity, reply, redirectUri, { error: code, error_description: ascii(refused.message), state });
}

/** The state to hand back with an error, where there is a sound one. */
function stateOf(parameters: Parameters): string | undefined {
  try {
    return parameters.get('state', 2_048);
  } catch {
    return undefined;
  }
}

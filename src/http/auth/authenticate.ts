import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RegisteredApplication } from '../../identity/applications/application-credentials.ts';
import { PAGES_APPLICATION } from '../../identity/applications/own-applications.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import {
  type AuthorizationRequest,
  checkRequest,
  findRequest,
  keepRequest,
  promptingOf,
  redirectUriOf,
} from '../../identity/sign-in/authorization-request.ts';
import { findBrowserSession } from '../../identity/sign-in/browser-session.ts';
import { checkPassword, MAX_EMAIL_LENGTH } from '../../identity/sign-in/sign-in.ts';
import { issueCode } from '../../identity/tokens/authorization-code.ts';
import { languageOf } from '../../values/language.ts';
import type { AuthContext, PageContext } from './auth-context.ts';
import { continueSignIn, redirectError, redirectToApplication } from './authorization-response.ts';
import { browserOf, readCookie } from './cookie.ts';
import { form, query, requireSameOrigin } from './form.ts';
import { signInHeadless } from './headless.ts';
import type { SignInForm } from './pages/pages.ts';
import { noteSignIn, outcomeOf } from './sign-in-journal.ts';

/** GET and POST /authenticate, and its alias POST /login (service interface, Authentication; docs/decisions.md, 7). */
export function authenticateRoutes(app: FastifyInstance, auth: PageContext): void {
  const config = { page: true, checksQuery: true };
  app.get('/authenticate', { config }, (request, reply) => showSignIn(auth, request, reply));
  for (const path of ['/authenticate', '/login']) {
    app.post(path, { config: { page: true, limit: 'sign-in' } }, (request, reply) => {
      requireSameOrigin(request, auth.context);
      const byPage = form(request).get('request') !== undefined;
      return byPage ? signInByPage(auth, request, reply) : signInHeadless(auth, request, reply);
    });
  }
}

async function showSignIn(auth: PageContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { pool, config, clock } = auth.context;
  const parameters = query(request);
  const application = await auth.applications.require(parameters.require('client_id'));
  request.party = { application: application.id };
  const redirectUri = redirectUriOf(parameters, application, false);
  try {
    const { requirePkce } = config;
    const asked = checkRequest(parameters, application, redirectUri, { headless: false, requirePkce });
    const prompting = promptingOf(parameters);
    const now = clock.now();
    if (config.singleSignOn) {
      const secret = readCookie(request, auth.context, 'session');
      const session = await findBrowserSession(pool, { secret, prompting, now });
      if (session) {
        const code = await issueCode(pool, { ...asked, ...session, applicationId: application.id }, now);
        return redirectToApplication(auth, reply, redirectUri, { code, state: asked.state });
      }
    }
    if (prompting.none) throw new OAuthError('login_required', 'the browser is not signed in');
    return await sendSignInPage(auth, request, reply, asked);
  } catch (error) {
    return redirectError(auth, reply, error, { redirectUri, parameters });
  }
}

async function sendSignInPage(
  auth: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AuthorizationRequest,
): Promise<FastifyReply> {
  const { context, pages } = auth;
  const { application, state, redirectUri } = asked;
  const { browser, header } = browserOf(request, context);
  const id = await keepRequest(context.pool, asked, { browser, now: context.clock.now() });
  if (header) reply.header('set-cookie', header);
  const parameters = query(request);
  const language = languageOf(parameters.get('ui_locales'), request.headers['accept-language']);
  const email = parameters.get('login_hint', MAX_EMAIL_LENGTH) ?? '';
  const page = pages.signIn(language, signInForm(auth, application, { id, state, redirectUri, email }));
  return pages.send(reply, 200, page, { formTarget: redirectUri });
}

function signInForm(
  { context }: AuthContext,
  application: RegisteredApplication,
  input: { id: string; state: string; redirectUri: string; email: string; refused?: SignInForm['refused'] },
): SignInForm {
  return {
    action: `${context.addresses.auth}/authenticate`,
    request: input.id,
    clientId: application.id,
    // Clients know their institution, but not the program behind its pages.
    application: application.id === PAGES_APPLICATION ? context.config.institution.name : application.name,
    state: input.state,
    redirectUri: input.redirectUri,
    email: input.email,
    refused: input.refused,
  };
}

/** Handles a posted page. After a refusal the page is shown again. */
async function signInByPage(auth: PageContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context, pages } = auth;
  const { pool, clock } = context;
  const fields = form(request);
  const id = fields.require('request');
  const browser = readCookie(request, context, 'browser');
  const [clientId, state] = [fields.require('client_id'), fields.require('state')];
  const kept = await findRequest(pool, { id, browser, clientId, state, now: clock.now() });
  const application = await auth.applications.require(kept.applicationId);
  request.party = { application: application.id };
  const language = languageOf(fields.get('ui_locales'), request.headers['accept-language']);
  const [email, password] = [fields.raw('email'), fields.raw('password')];
  const showAgain = (refused: NonNullable<SignInForm['refused']>, status: number) => {
    const typed = (email ?? '').slice(0, MAX_EMAIL_LENGTH);
    const page = pages.signIn(language, signInForm(auth, application, { ...kept, id, email: typed, refused }));
    return pages.send(reply, status, page, { formTarget: kept.redirectUri });
  };
  if (email === undefined || password === undefined) return showAgain('incomplete', 400);
  try {
    const signedIn = await checkPassword(pool, clock, { email, password });
    return await continueSignIn(auth, request, reply, { ...kept, ...signedIn, browser, page: true, language });
  } catch (error) {
    const outcome = outcomeOf(error);
    if (outcome) noteSignIn(context, request, { outcome, email, application: application.id });
    if (!(error instanceof OAuthError) || error.refusal === undefined) throw error;
    request.refusal = { code: error.code, details: error.message };
    request.log.info({ application: application.id, refusal: error.refusal }, 'sign-in refused');
    if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter));
    return showAgain(error.refusal, error.status);
  }
}

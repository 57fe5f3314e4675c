import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError, type Refusal } from '../../identity/oauth-error.ts';
import { contactOfChallenge, findChallenge, resendCode } from '../../identity/second-factor/second-factor-challenge.ts';
import { type Presenter, verifyChallenge } from '../../identity/second-factor/second-factor-verification.ts';
import type { SignInOutcome } from '../../monitoring/sign-in-attempts.ts';
import { type Language, languageOf } from '../../values/language.ts';
import { basicCredentials } from './application-authentication.ts';
import type { AuthContext, PageContext } from './auth-context.ts';
import { completeSignIn, withParameters } from './authorization-response.ts';
import { browserOf, readCookie } from './cookie.ts';
import { form, query, requireSameOrigin, wantsPage } from './form.ts';
import { TEXTS } from './pages/texts.ts';
import { noteSignIn, outcomeOf } from './sign-in-journal.ts';

/** GET /2fa, POST /verify, POST /send-verification-code (docs/decisions.md, 7). */
export function secondFactorRoutes(app: FastifyInstance, auth: PageContext): void {
  const page = { config: { page: true } };
  app.get('/2fa', page, (request, reply) =>
    showStep(auth, request, reply, { status: 200, resent: query(request).get('sent') === '1' }),
  );
  const attempt = { config: { page: true, limit: 'sign-in' as const } };
  app.post('/verify', attempt, (request, reply) => verify(auth, request, reply));
  app.post('/send-verification-code', attempt, (request, reply) => sendCodeAgain(auth, request, reply));
}

/** The sign-in step that a request names: its challenge, and the application. */
function stepOf(request: FastifyRequest): { challenge: string; clientId: string } {
  const parameters = query(request);
  return { challenge: parameters.require('code'), clientId: parameters.require('client_id') };
}

function languageOfStep(request: FastifyRequest): Language {
  const asked = form(request).get('ui_locales') ?? query(request).get('ui_locales');
  return languageOf(asked, request.headers['accept-language']);
}

async function showStep(
  auth: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  shown: { status: number; refused?: Refusal; resent?: boolean },
): Promise<FastifyReply> {
  const { context, pages } = auth;
  const { challenge, clientId } = stepOf(request);
  const { browser, header } = browserOf(request, context);
  const { kind, redirectUri } = await findChallenge(context, { challenge, clientId, browser });
  const application = await auth.applications.require(clientId);
  if (header) reply.header('set-cookie', header);
  const parameters = { client_id: clientId, code: challenge };
  const page = pages.secondFactor(languageOfStep(request), {
    verifyAction: withParameters(`${context.addresses.auth}/verify`, { ...parameters, redirect_uri: redirectUri }),
    resendAction: withParameters(`${context.addresses.auth}/send-verification-code`, parameters),
    kind,
    application: application.name,
    redirectUri,
    refused: shown.refused,
    resent: shown.resent ?? false,
  });
  return pages.send(reply, shown.status, page, { formTarget: redirectUri });
}

async function verify(auth: PageContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  requireSameOrigin(request, auth.context);
  const step = stepOf(request);
  const presenter = await presenterOf(auth, request);
  const code = form(request).raw('verification_code');
  if (code === undefined) throw new OAuthError('invalid_request', 'verification_code: is required');
  try {
    const redirectUri = query(request).get('redirect_uri');
    const signIn = await verifyChallenge(auth.context, {
      ...step,
      presenter,
      code,
      redirectUri,
      requestId: request.id,
    });
    const methods = ['pwd', signIn.kind === 'sms' ? 'sms' : 'otp'];
    return await completeSignIn(auth, request, reply, { ...signIn, methods, page: 'browser' in presenter });
  } catch (error) {
    await noteFailure(auth, request, { ...step, outcome: outcomeOf(error) });
    const refusal = shownRefusal(request, error, ['wrong_code', 'locked']);
    if (!refusal || !('browser' in presenter)) throw error;
    request.log.info({ application: step.clientId, refusal: refusal.refused }, 'second factor refused');
    return showStep(auth, request, reply, refusal);
  }
}

/** Records a refused second factor, for the contact of its sign-in while the sign-in is stored. */
async function noteFailure(
  { context }: AuthContext,
  request: FastifyRequest,
  { challenge, clientId, outcome }: { challenge: string; clientId: string; outcome: SignInOutcome | undefined },
): Promise<void> {
  if (outcome === undefined) return;
  const contactId = await contactOfChallenge(context.pool, { challenge, clientId });
  request.party = { contactId, application: clientId };
  noteSignIn(context, request, { outcome, contactId, application: clientId });
}

async function sendCodeAgain(auth: PageContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = auth;
  requireSameOrigin(request, context);
  const { challenge, clientId } = stepOf(request);
  const language = languageOfStep(request);
  try {
    const message = (code: string) => TEXTS[language].message(context.config.institution.name, code);
    await resendCode(context, { challenge, clientId, message });
  } catch (error) {
    const refusal = shownRefusal(request, error, ['text_too_soon', 'text_failed']);
    if (!refusal) throw error;
    return showStep(auth, request, reply, refusal);
  }
  if (!wantsPage(request)) return reply.code(204).header('cache-control', 'no-store').send();
  const parameters = { code: challenge, client_id: clientId, ui_locales: language, sent: '1' };
  return reply.redirect(withParameters(`${context.addresses.auth}/2fa`, parameters), 303);
}

/** The refusal that the page of the step shows, with its status; undefined if the request gets an error answer instead. */
function shownRefusal(
  request: FastifyRequest,
  error: unknown,
  shown: Refusal[],
): { status: number; refused: Refusal } | undefined {
  if (!(error instanceof OAuthError) || !wantsPage(request)) return undefined;
  const refused = shown.find((each) => each === error.refusal);
  if (!refused) return undefined;
  request.refusal = { code: error.code, details: error.message };
  return { status: error.status, refused };
}

/** The application from its Basic header, or the browser from its cookie. */
async function presenterOf({ context, applications }: AuthContext, request: FastifyRequest): Promise<Presenter> {
  if (request.headers.authorization !== undefined) {
    const { application } = await basicCredentials(applications, request.headers.authorization);
    return { applicationId: application.id };
  }
  const browser = readCookie(request, context, 'browser');
  if (browser !== undefined) return { browser };
  throw new OAuthError(
    'invalid_client',
    'header.Authorization: Basic client_id:client_secret is required without the cookie of the second-factor page',
  );
}

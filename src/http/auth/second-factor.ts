import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError } from '../../identity/oauth-error.ts';
import { findHandle, type Presenter, resendCode, verifyHandle } from '../../identity/second-factor.ts';
import { basicCredentials } from './application.ts';
import { complete } from './authenticate.ts';
import { wantsPage } from './errors.ts';
import type { Pages } from './pages/pages.ts';
import { LANGUAGES, languageOf } from './pages/texts.ts';
import {
  applicationOf,
  browserOf,
  form,
  type Identity,
  query,
  readCookie,
  refuseForeign,
  withParameters,
} from './requests.ts';

interface Step {
  handle: string;
  clientId: string;
}

/** GET /2fa, POST /verify, POST /send-verification-code (docs/decisions.md, 7). */
export function secondFactorRoutes(app: FastifyInstance, identity: Identity, pages: Pages): void {
  const { context } = identity;
  const stepOf = (request: FastifyRequest): Step => {
    const parameters = query(request);
    return { handle: parameters.require('code'), clientId: parameters.require('client_id') };
  };
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    step: Step,
    status: number,
    said: { refused?: OAuthError['refusal']; resent?: boolean },
  ): Promise<FastifyReply> => {
    const { browser, setCookie } = browserOf(request, context);
    const found = await findHandle(context, step.handle, step.clientId, browser);
    const application = await applicationOf(identity.applications, step.clientId);
    if (setCookie) reply.header('set-cookie', setCookie);
    const parameters = { client_id: step.clientId, code: step.handle };
    const page = pages.secondFactor(languageOfStep(request), {
      verifyAction: withParameters(`${context.addresses.auth}/verify`, {
        ...parameters,
        redirect_uri: found.redirectUri,
      }),
      resendAction: withParameters(`${context.addresses.auth}/send-verification-code`, parameters),
      kind: found.kind,
      application: application.name,
      redirectUri: found.redirectUri,
      refused: said.refused,
      resent: said.resent ?? false,
    });
    return pages.send(reply, status, page, found.redirectUri);
  };

  app.get('/2fa', { config: { page: true } }, (request, reply) =>
    show(request, reply, stepOf(request), 200, { resent: query(request).get('sent') === '1' }),
  );

  app.post('/verify', { config: { page: true } }, async (request, reply) => {
    refuseForeign(request, context);
    const step = stepOf(request);
    const presenter = await presenterOf(identity, request);
    const code = form(request).require('verification_code', 64);
    try {
      const handle = await verifyHandle(context, {
        ...step,
        presenter,
        code,
        redirectUri: query(request).get('redirect_uri'),
      });
      const methods = ['pwd', handle.kind === 'sms' ? 'sms' : 'otp'];
      return await complete(identity, request, reply, { ...handle, methods, page: 'browser' in presenter });
    } catch (error) {
      if (!(error instanceof OAuthError) || !('browser' in presenter) || !wantsPage(request)) throw error;
      if (error.refusal !== 'wrong_code' && error.refusal !== 'locked') throw error;
      request.log.info(
        { requestId: request.id, application: step.clientId, refusal: error.refusal },
        'second factor refused',
      );
      return show(request, reply, step, error.status, { refused: error.refusal });
    }
  });

  app.post('/send-verification-code', { config: { page: true } }, async (request, reply) => {
    refuseForeign(request, context);
    const step = stepOf(request);
    const language = languageOfStep(request);
    try {
      await resendCode(context, step.handle, step.clientId, (code) =>
        LANGUAGES[language].message(context.config.institution.name, code),
      );
    } catch (error) {
      if (
        !(error instanceof OAuthError) ||
        !wantsPage(request) ||
        (error.refusal !== 'text_too_soon' && error.refusal !== 'text_failed')
      )
        throw error;
      return show(request, reply, step, error.status, { refused: error.refusal });
    }
    if (!wantsPage(request)) return reply.code(204).header('cache-control', 'no-store').send();
    const address = withParameters(`${context.addresses.auth}/2fa`, {
      code: step.handle,
      client_id: step.clientId,
      ui_locales: language,
      sent: '1',
    });
    return reply.redirect(address, 303);
  });
}

function languageOfStep(request: FastifyRequest) {
  return languageOf(
    form(request).get('ui_locales') ?? query(request).get('ui_locales'),
    request.headers['accept-language'],
  );
}

/** The application by its Basic header, or the browser by the cookie of its page. */
async function presenterOf({ context, applications }: Identity, request: FastifyRequest): Promise<Presenter> {
  if (request.headers.authorization !== undefined) {
    const { application } = await basicCredentials(applications, request.headers.authorization);
    return { applicationId: application.id };
  }
  const browser = readCookie(request, context, 'browser');
  if (browser !== undefined) return { browser };
  throw new OAuthError(
    'invalid_client',
    'header.Authorization: Basic client_id:client_secret is required without the page of the second factor',
  );
}

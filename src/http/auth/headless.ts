import type { FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError } from '../../identity/oauth-error.ts';
import { checkRequest, redirectUriOf } from '../../identity/sign-in/authorization-request.ts';
import { checkPassword } from '../../identity/sign-in/sign-in.ts';
import { languageOf } from '../../values/language.ts';
import type { AuthContext } from './auth-context.ts';
import { continueSignIn, redirectError } from './authorization-response.ts';
import { form, wantsCode } from './form.ts';
import { noteSignIn, outcomeOf } from './sign-in-journal.ts';

/** Handles a POST without a page: the application itself asked its user for email and password. */
export async function signInHeadless(
  auth: AuthContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { pool, clock, config } = auth.context;
  const fields = form(request);
  const application = await auth.applications.require(fields.require('client_id'));
  request.party = { application: application.id };
  if (!application.headlessSignIn) {
    throw new OAuthError(
      'unauthorized_client',
      'the application must send its users to the sign-in page (GET /authenticate)',
    );
  }
  const redirectUri = redirectUriOf(fields, application, true);
  try {
    const { requirePkce } = config;
    const asked = checkRequest(fields, application, redirectUri, { headless: true, requirePkce });
    const [email, password] = [fields.raw('email'), fields.raw('password')];
    if (email === undefined || password === undefined)
      throw new OAuthError('invalid_request', 'email, password: are required');
    const signedIn = await checkPassword(pool, clock, { email, password });
    return await continueSignIn(auth, request, reply, {
      ...asked,
      ...signedIn,
      applicationId: application.id,
      browser: undefined,
      page: false,
      language: languageOf(fields.get('ui_locales'), request.headers['accept-language']),
    });
  } catch (error) {
    const outcome = outcomeOf(error);
    if (outcome)
      noteSignIn(auth.context, request, { outcome, email: fields.raw('email'), application: application.id });
    if (!(error instanceof OAuthError) || wantsCode(request)) throw error;
    request.log.info({ application: application.id, refusal: error.refusal }, 'sign-in refused');
    return redirectError(auth, reply, error, { redirectUri, parameters: fields });
  }
}

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError } from '../../identity/oauth-error.ts';
import { Problem } from '../../values/errors.ts';
import { languageOf } from '../../values/language.ts';
import { codeOf, fieldsOf } from '../../values/unknown.ts';
import { STATUS, toProblem } from '../schemas/problem.ts';
import { causeOf, hasHungUp } from '../server/failure.ts';
import { readOn } from '../server/unsent-bodies.ts';
import { wantsPage } from './form.ts';
import type { Pages } from './pages/pages.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether browsers are answered with a page, including for errors. */
    page?: boolean;
  }
}

/** Answers every error of a scope with `{error, error_description}` (RFC 6749, 5.2), or with a page for a browser. */
export function answerOAuthErrors(scope: FastifyInstance, pages?: Pages): void {
  scope.setErrorHandler((error: FastifyError, request, reply) => {
    const refused = hasHungUp(request)
      ? new OAuthError('invalid_request', 'the caller hung up before the end of the request')
      : toOAuthError(error);
    logRefusal(request, refused);
    if (refused.status === 413) readOn(reply);
    if (pages && request.routeOptions.config.page && wantsPage(request))
      return sendFailure(pages, request, reply, refused);
    return sendOAuthError(reply, refused);
  });
}

/** Sends an error as JSON, with the headers that its code requires (RFC 6749, 5.2; RFC 6750, 3). */
export function sendOAuthError(reply: FastifyReply, refused: OAuthError): FastifyReply {
  if (refused.retryAfter !== undefined) reply.header('retry-after', String(refused.retryAfter));
  if (refused.code === 'invalid_client') reply.header('www-authenticate', 'Basic realm="lombard", charset="UTF-8"');
  if (refused.code === 'invalid_token')
    reply.header(
      'www-authenticate',
      `Bearer realm="lombard", error="invalid_token", error_description="${ascii(refused.message)}"`,
    );
  reply.code(refused.status).header('cache-control', 'no-store').header('pragma', 'no-cache');
  return reply.send({ error: refused.code, error_description: ascii(refused.message) });
}

function sendFailure(pages: Pages, request: FastifyRequest, reply: FastifyReply, refused: OAuthError): FastifyReply {
  if (refused.retryAfter !== undefined) reply.header('retry-after', String(refused.retryAfter));
  const language = languageOf(undefined, request.headers['accept-language']);
  const refusal = refused.refusal ?? (refused.code === 'temporarily_unavailable' ? 'locked' : undefined);
  const fault = refused.status >= 500 ? 'service' : 'application';
  const page = pages.failure(language, { refusal, fault, developers: `${refused.code}: ${refused.message}` });
  return pages.send(reply, refused.status, page);
}

/** Restricts a text to the characters that an error_description may have (RFC 6749, 5.2). */
export function ascii(text: string): string {
  return text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?');
}

/** Converts any error to one of the authorization server. An error that is not the caller's becomes server_error. */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const code = codeOf(error) ?? '';
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new OAuthError('invalid_request', 'the request body is too large', { status: 413 });
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new OAuthError('invalid_request', 'the content type must be application/x-www-form-urlencoded', {
      status: 415,
    });
  }
  if (code.startsWith('FST_') && fieldsOf(error).statusCode === 400)
    return new OAuthError('invalid_request', 'the request could not be read');
  const problem = error instanceof Problem ? error : toProblem(error);
  switch (problem.code) {
    case 'rate_limited':
      return new OAuthError('temporarily_unavailable', problem.details);
    case 'authentication_failed':
    case 'token_expired':
      return new OAuthError('invalid_token', problem.details);
    case 'integration_error':
      return new OAuthError('server_error', problem.details, { cause: problem.cause ?? error });
    default:
      return new OAuthError('invalid_request', problem.details, { status: STATUS[problem.code] });
  }
}

function logRefusal(request: FastifyRequest, refused: OAuthError): void {
  request.refusal = { code: refused.code, details: refused.message };
  if (refused.status < 500) return;
  request.log.error(causeOf(refused), refused.message);
}

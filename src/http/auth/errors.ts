import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../errors.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import { STATUS, toProblem } from '../problem.ts';
import type { Pages } from './pages/pages.ts';
import { languageOf } from './pages/texts.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A browser that asks is answered with a page, errors too. */
    page?: boolean;
  }
}

/** Whether the one who asks is a browser that shows what it gets; a program that asks for nothing in particular gets JSON. */
export function wantsPage(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? '';
  if (wantsCode(request) || /application\/json/.test(accept)) return false;
  return /text\/html/.test(accept) || request.method === 'GET';
}

/** Whether the code is to come in a JSON body instead of a redirect (the service interface, POST /authenticate). */
export function wantsCode(request: FastifyRequest): boolean {
  return (
    String(request.headers['no-redirect'] ?? '')
      .trim()
      .toLowerCase() === 'application/json'
  );
}

/** Everything that goes wrong in a scope becomes `{error, error_description}` (RFC 6749, 5.2), or a page where a browser asks for one. */
export function answerOAuthErrors(scope: FastifyInstance, pages?: Pages): void {
  scope.setErrorHandler((error: FastifyError, request, reply) => {
    const refused = toOAuthError(error);
    logRefusal(request, refused);
    if (pages && request.routeOptions.config.page && wantsPage(request))
      return sendFailure(pages, request, reply, refused);
    return sendOAuthError(reply, refused);
  });
}

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
  const page = pages.failure(
    language,
    refusal,
    refused.status >= 500 ? 'ours' : 'theirs',
    `${refused.code}: ${refused.message}`,
  );
  return pages.send(reply, refused.status, page);
}

/** What of an error_description is allowed (RFC 6749, 5.2). */
export function ascii(text: string): string {
  return text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?');
}

export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const { code = '', statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new OAuthError('invalid_request', 'the request body is too large', { status: 413 });
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new OAuthError('invalid_request', 'the content type must be application/x-www-form-urlencoded', {
      status: 415,
    });
  }
  if (code.startsWith('FST_') && statusCode === 400)
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
  if (refused.status < 500) {
    request.log.info({ requestId: request.id, error: refused.code, reason: refused.message }, 'refused');
    return;
  }
  const cause = refused.cause as (Error & { code?: string }) | undefined;
  request.log.error(
    { requestId: request.id, reason: cause?.message, sqlstate: cause?.code, stack: cause?.stack },
    refused.message,
  );
}

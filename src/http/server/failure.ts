import type { FastifyError, FastifyRequest } from 'fastify';
import { type ErrorCode, Problem } from '../../values/errors.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { errorMessage, STATUS, toProblem } from '../schemas/problem.ts';
import { explain } from '../schemas/validation.ts';

const FRAMEWORK_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_body',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_body',
};
/** The most characters of a caller's content type that the refusal quotes. */
const MAX_QUOTED_LENGTH = 100;

/** The Problem for anything that a handler, the schema or Fastify itself threw. */
export function problemOf(error: FastifyError, request: FastifyRequest): Problem {
  if (hasHungUp(request))
    return new Problem('invalid_body', 'body: the caller hung up before its end', { cause: error });
  // From the check of an order's body (schemas/order-body.ts). Fastify has added a status to it.
  if (error instanceof Problem) return error;
  if (error.validation) return explain(error);
  const code = FRAMEWORK_CODES[error.code];
  if (code) return new Problem(code, frameworkDetails(code, request), { cause: error });
  // From @fastify/static: a file outside its folder.
  if (error.statusCode === 403 || error.statusCode === 404)
    return new Problem('not_found', 'path: nothing is served at this address', { cause: error });
  if (error.statusCode === 400) return new Problem('invalid_body', 'body: could not be read', { cause: error });
  return toProblem(error);
}

function frameworkDetails(code: ErrorCode, request: FastifyRequest): string {
  if (code === 'payload_too_large') return `body: must be at most ${request.routeOptions.bodyLimit} bytes`;
  if (code === 'unsupported_media_type') {
    const sent = String(request.headers['content-type'] || 'none').slice(0, MAX_QUOTED_LENGTH);
    return `header.Content-Type: must be ${mediaTypesOf(request.routeOptions).join(' or ')}, not ${sent}`;
  }
  return 'body: its length differs from the Content-Length';
}

/** The media types that the body of a route may have. */
function mediaTypesOf({ schema, config }: FastifyRequest['routeOptions']): string[] {
  const others = Object.keys(config.describedBody ?? {});
  return schema?.body || others.length === 0 ? ['application/json', ...others] : others;
}

/**
 * Whether the caller has closed the connection before the request was complete. Then the failure is the caller's. Nobody gets the answer,
 * and Fastify never counts it as finished, so the log line of the request is written here.
 */
export function hasHungUp({ raw, log, method, routeOptions }: FastifyRequest): boolean {
  const hungUp = raw.destroyed && !raw.complete;
  if (hungUp) log.info({ method, route: routeOptions.url }, 'the caller hung up before the end of the request');
  return hungUp;
}

export interface ErrorAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** The answer to a Problem. A 401 has the challenge of RFC 6750, section 3. */
export function answerFor(problem: Problem): ErrorAnswer {
  const status = STATUS[problem.code];
  if (status !== 401) return { status, body: errorMessage(problem) };
  const description = problem.code === 'token_expired' ? 'The access token expired' : 'The access token is not valid';
  const challenge = `Bearer realm="lombard", error="invalid_token", error_description="${description}"`;
  return { status, body: errorMessage(problem), headers: { 'www-authenticate': challenge } };
}

/** Writes the cause of a 502 to the log, and nowhere else. */
export function logFailure(problem: Problem, request: FastifyRequest): void {
  if (problem.code !== 'integration_error') return;
  request.log.error(causeOf(problem), problem.details);
}

/** What the log records about the cause of an error. */
export function causeOf({ cause }: Error): Record<'reason' | 'sqlstate' | 'stack', unknown> {
  const { message, code, stack } = fieldsOf(cause);
  return { reason: message, sqlstate: code, stack };
}

import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { type ErrorCode, Problem } from '../errors.ts';
import { parseJson } from '../json.ts';
import type { Logger } from '../log.ts';
import { requestDuration } from '../metrics.ts';
import { errorMessage, locate, STATUS, toProblem } from './problem.ts';
import { checkQuery, explain, pathOfNul } from './validation.ts';

/** Bytes of a request body; imports are streams and have no limit (docs/decisions.md, 1). */
const BODY_LIMIT = 1_048_576;
/** Milliseconds for a request's head and body to arrive: a client that drips them is dropped. */
const REQUEST_TIMEOUT = 60_000;
const KEEP_ALIVE_TIMEOUT = 72_000;
/** Seconds after which who was refused because too much is under way may try again; a rate limit says more exactly when. */
const BUSY_RETRY_AFTER = 5;
const MAX_PATH_PARAMETER = 256;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

export interface ServerOptions {
  /** Its name in log lines and metrics. */
  name: string;
  log: Logger;
  /** Answers an error in another shape than ErrorMessage; the authorization server's OAuth errors. */
  onProblem?: (
    problem: Problem,
    request: FastifyRequest,
  ) => { status: number; body: unknown; headers?: Record<string, string> };
  /** Milliseconds for a whole request to arrive; 0: no limit (imports are streams of any length). */
  requestTimeout?: number;
  serverFactory?: FastifyServerOptions['serverFactory'];
}

/**
 * A listener with what all of them have in common: request ids, JSON without loss, errors that name the field, 404 and 405,
 * and a log line for each request.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: options.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: options.requestTimeout ?? REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    routerOptions: {
      querystringParser: parseQuery,
      maxParamLength: MAX_PATH_PARAMETER,
      ignoreTrailingSlash: false,
    },
    return503OnClosing: false,
    exposeHeadRoutes: true,
    frameworkErrors: (error, request, reply) => {
      answerProblem(
        options,
        new Problem('not_found', `path: is not a valid path (${error.code})`),
        request as FastifyRequest,
        reply.raw as ServerResponse,
      );
    },
    ajv: {
      customOptions: {
        coerceTypes: false,
        allErrors: false,
        removeAdditional: false,
        useDefaults: true,
        keywords: ['x-list', 'example'],
      },
    },
    ...(options.serverFactory ? { serverFactory: options.serverFactory } : {}),
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      const value = body.length === 0 ? undefined : parseJson(utf8(body as Buffer));
      const nul = body.includes('\\u0000') ? pathOfNul(value, 'body') : undefined;
      done(nul === undefined ? null : new Problem('invalid_body', `${nul}: must not hold a NUL character`), value);
    } catch (error) {
      done(new Problem('invalid_body', `body: is not valid JSON in UTF-8 (${(error as Error).message.slice(0, 120)})`));
    }
  });

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('preValidation', (request, _reply, done) => {
    const fault = checkQuery(request);
    done(fault);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url ?? 'none';
    const status = reply.statusCode;
    requestDuration.observe({ listener: options.name, method, route, status }, reply.elapsedTime / 1_000);
    const { caller } = request as { caller?: { contactId: string; clientId: string } | null };
    options.log.info(
      {
        listener: options.name,
        request_id: request.id,
        method,
        route,
        status,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        contact_id: caller?.contactId,
        client_id: caller?.clientId,
      },
      'request',
    );
    done();
  });

  app.setErrorHandler((error: FastifyError, request, reply) => {
    const problem = locate(fromFramework(error, request), request);
    logFailure(problem, request);
    const answer = options.onProblem?.(problem, request) ?? standardAnswer(problem);
    if (answer.status === 429 && !reply.hasHeader('retry-after')) reply.header('retry-after', String(BUSY_RETRY_AFTER));
    if (answer.headers) reply.headers(answer.headers);
    return reply.code(answer.status).send(answer.body);
  });

  const routes: { methods: string[]; path: RegExp }[] = [];
  app.addHook('onRoute', (route) => {
    const methods = Array.isArray(route.method) ? route.method : [route.method];
    routes.push({ methods, path: pathPattern(route.url) });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = [
      ...new Set(routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods)),
    ].sort();
    if (allowed.length > 0) {
      reply.header('allow', allowed.join(', '));
      throw new Problem('method_not_allowed', `${request.method}: the methods here are ${allowed.join(', ')}`);
    }
    throw new Problem('not_found', `path: nothing is served at ${path.slice(0, 200)}`);
  });
  return app;
}

/** A route's address as a pattern, to tell a wrong method (405) from a wrong address (404). */
function pathPattern(url: string): RegExp {
  const segments = url
    .split('/')
    .map((segment) =>
      segment.startsWith(':') ? '[^/]+' : segment === '*' ? '.*' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    );
  return new RegExp(`^${segments.join('/')}$`);
}

function utf8(body: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(body);
}

/** A parameter given twice becomes a list, which only list parameters accept (validation.ts). */
function parseQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query[name];
    if (known === undefined) query[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else query[name] = [known, value];
  }
  return query;
}

function fromFramework(error: FastifyError, request: FastifyRequest): Problem {
  if (error.validation) return explain(error);
  const code = FRAMEWORK_CODES[error.code];
  if (code) return new Problem(code, frameworkDetails(code, request), { cause: error });
  if (error.statusCode === 400) return new Problem('invalid_body', 'body: could not be read', { cause: error });
  return toProblem(error);
}

const FRAMEWORK_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_body',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_body',
};

function frameworkDetails(code: ErrorCode, request: FastifyRequest): string {
  if (code === 'payload_too_large') return `body: must be at most ${BODY_LIMIT} bytes`;
  if (code === 'unsupported_media_type')
    return `header.Content-Type: ${String(request.headers['content-type'] ?? 'none').slice(0, 100)} was given; it must be application/json`;
  return 'body: its length is not the length that was announced';
}

function standardAnswer(problem: Problem): { status: number; body: unknown; headers?: Record<string, string> } {
  const status = STATUS[problem.code];
  if (status !== 401) return { status, body: errorMessage(problem) };
  const description = problem.code === 'token_expired' ? 'The access token expired' : 'The access token is not valid';
  const challenge = `Bearer realm="lombard", error="invalid_token", error_description="${description}"`;
  return { status, body: errorMessage(problem), headers: { 'www-authenticate': challenge } };
}

function logFailure(problem: Problem, request: FastifyRequest): void {
  if (problem.code !== 'integration_error') return;
  const cause = problem.cause as (Error & { code?: string }) | undefined;
  request.log.error(
    { requestId: request.id, reason: cause?.message, sqlstate: cause?.code, stack: cause?.stack },
    problem.details,
  );
}

function answerProblem(
  options: ServerOptions,
  problem: Problem,
  request: FastifyRequest,
  response: ServerResponse,
): void {
  const answer = options.onProblem?.(problem, request) ?? standardAnswer(problem);
  const body = JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': String(request.id),
  });
  response.end(body);
}

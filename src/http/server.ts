import type { ServerResponse } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { Problem } from '../errors.ts';
import type { Logger } from '../log.ts';
import { requestDuration } from '../metrics.ts';
import { MAX_BODY_BYTES, parseQuery, readJson } from './body.ts';
import { answerFor, logFailure, problemOf } from './failure.ts';
import { limitBodies, PATIENCE } from './patience.ts';
import { locate } from './problem.ts';
import { requestIdFrom } from './request-id.ts';
import { traceIdFrom } from './trace.ts';
import { answerUnknownAddresses } from './unknown-address.ts';
import { answerUnparsed } from './unparsed.ts';
import { checkQuery, keepDigits, replaceNul } from './validation.ts';

const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Seconds to wait after a 429 because too many requests are in flight; a rate limit sets a more exact number. */
const BUSY_RETRY_AFTER_SECONDS = 5;
const MAX_PATH_PARAMETER_LENGTH = 256;

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was refused, for its line in the log. */
    refusal: { code: string; details: string } | undefined;
  }
}

export interface ServerOptions {
  /** Its name in log lines and metrics. */
  name: string;
  log: Logger;
  /** Milliseconds for a whole request to arrive; 0: no limit, since imports are streams of any length. */
  requestTimeoutMs?: number;
}

/**
 * A listener with what all of them have in common: request ids, JSON without loss, errors that name the field, 404 and 405,
 * and a log line for each request.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: options.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: options.requestTimeoutMs ?? PATIENCE.requestMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestIdHeader: false,
    childLoggerFactory: (logger, bindings, childOptions, request) =>
      logger.child(
        { listener: options.name, ...bindings, trace_id: traceIdFrom(request.headers.traceparent) },
        childOptions,
      ),
    genReqId: (request) => requestIdFrom(request.headers['x-request-id']),
    // A request without Host is refused below, in the shape of every other refusal.
    http: { requireHostHeader: false },
    routerOptions: {
      querystringParser: parseQuery,
      maxParamLength: MAX_PATH_PARAMETER_LENGTH,
      ignoreTrailingSlash: false,
    },
    return503OnClosing: false,
    exposeHeadRoutes: true,
    frameworkErrors: (error, request, reply) =>
      answerInvalidPath(error, request as FastifyRequest, reply.raw as ServerResponse),
    ajv: {
      customOptions: {
        coerceTypes: false,
        allErrors: false,
        removeAdditional: false,
        useDefaults: true,
        keywords: ['x-list', 'example'],
      },
    },
  });
  readJson(app);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    // What needs a token is personal or secret: no cache keeps it. Descriptions and pages say for themselves how long they hold.
    if (!request.routeOptions.config.open) reply.header('cache-control', 'no-store');
    const { httpVersion, headers } = request.raw;
    const nameless = httpVersion === '1.1' && headers.host === undefined;
    done(nameless ? new Problem('malformed_request', 'header.Host: is required (RFC 9112, 3.2)') : undefined);
  });
  limitBodies(app);
  app.addHook('preValidation', (request, _reply, done) => {
    replaceNul(request);
    done(checkQuery(request));
  });
  app.addHook('preHandler', (request, _reply, done) => {
    keepDigits(request.routeOptions.schema?.body, request.body);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    record(options, request, reply);
    done();
  });
  app.decorateRequest('refusal', undefined);
  app.setErrorHandler(answerFailure);
  answerUnknownAddresses(app);
  answerUnparsed(app.server, options.log.child({ listener: options.name }));
  return app;
}

/** The metric and the log line of a request. */
function record({ name }: ServerOptions, request: FastifyRequest, reply: FastifyReply): void {
  const { method } = request;
  const route = request.routeOptions.url ?? 'none';
  const status = reply.statusCode;
  requestDuration.observe({ listener: name, method, route, status }, reply.elapsedTime / 1_000);
  const { caller, refusal } = request as FastifyRequest & { caller?: { contactId: string; clientId: string } | null };
  request.log.info(
    {
      method,
      route,
      status,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      contact_id: caller?.contactId,
      client_id: caller?.clientId,
      ...(status >= 400 && refusal),
    },
    'request',
  );
}

function answerFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = locate(problemOf(error, request), request);
  request.refusal = { code: problem.code, details: problem.details };
  logFailure(problem, request);
  const { status, body, headers } = answerFor(problem);
  if (status === 429 && !reply.hasHeader('retry-after'))
    reply.header('retry-after', String(problem.retryAfterSeconds ?? BUSY_RETRY_AFTER_SECONDS));
  if (headers) reply.headers(headers);
  return reply.code(status).send(body);
}

/** A path that Fastify cannot decode never reaches the error handler. */
function answerInvalidPath(error: FastifyError, request: FastifyRequest, response: ServerResponse): void {
  const problem = new Problem('not_found', `path: is not a valid path (${error.code})`);
  const answer = answerFor(problem);
  const { code, details } = problem;
  request.log.info({ method: request.method, route: 'none', status: answer.status, code, details }, 'request');
  const body = JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': String(request.id),
  });
  response.end(body);
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Context } from '../../context.ts';
import { requestDuration } from '../../process/metrics.ts';
import { Problem } from '../../values/errors.ts';
import { locate } from '../schemas/problem.ts';
import { checkQuery, keepDigits, replaceNul } from '../schemas/validation.ts';
import { MAX_BODY_BYTES, parseQuery, readJson } from './body.ts';
import { scopeRequests } from './cells.ts';
import { COMPILERS, FORMATS, KEYWORDS } from './compilers.ts';
import { answerFor, logFailure, problemOf } from './failure.ts';
import { requestIdFrom, traceIdFrom } from './request-id.ts';
import { traceRequests } from './request-span.ts';
import { type Advice, answerUnknownAddresses } from './unknown-address.ts';
import { answerUnparsed, rawAnswer, UnreadRequests } from './unparsed.ts';
import { limitBodies, readOn } from './unsent-bodies.ts';

const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Seconds to wait after a 429 for too many requests in flight. A rate limit sets a more precise number. */
const BUSY_RETRY_AFTER_SECONDS = 5;
/** No address is longer, because Node's parser refuses it. A parameter that is too long for an identifier names no record. */
const MAX_PATH_PARAMETER_LENGTH = 16_384;

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was refused, for its line in the log. */
    refusal: { code: string; details: string } | undefined;
    /** Who made the request, as far as the listener knows, for the log and the journal of refused requests. */
    party: Party | undefined;
    /** The instant of the request on the service's clock. */
    now: Date;
  }
  interface FastifyContextConfig {
    /** Whether no token is needed, as for descriptions and pages. */
    open?: boolean;
    /** Whether the route checks the texts of its query itself, because it answers their faults in its own way. */
    checksQuery?: boolean;
  }
}

interface Party {
  clientId?: string | undefined;
  contactId?: string | undefined;
  /** The application; on the operator interface, the name of the token. */
  application?: string | undefined;
}

export interface ServerOptions {
  /** Its name in log lines and metrics. */
  name: string;
  context: Pick<Context, 'log' | 'journals' | 'pool' | 'patience' | 'traffic'>;
  /** Milliseconds for a whole request to arrive. 0 means no limit, because imports are streams of any length. */
  requestTimeoutMs?: number;
  /** The address that a request means, if it differs from the one it names. */
  rewriteUrl?: (request: IncomingMessage) => string;
  advice?: Advice;
}

/**
 * Makes a listener with what all listeners have in common: request ids, JSON without loss, errors that name the field, 404 and 405, and a
 * log line for each request.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: options.context.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: MAX_BODY_BYTES,
    ...(options.rewriteUrl ? { rewriteUrl: options.rewriteUrl } : {}),
    requestTimeout: options.requestTimeoutMs ?? options.context.patience.requestMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestIdHeader: false,
    childLoggerFactory: (logger, bindings, childOptions, request) =>
      logger.child(
        { listener: options.name, ...bindings, trace_id: traceIdFrom(request.headers.traceparent) },
        childOptions,
      ),
    genReqId: (request) => requestIdFrom(request.headers['x-request-id']),
    // A request without Host is refused below, in the same form as every other refusal.
    http: { requireHostHeader: false },
    routerOptions: {
      querystringParser: parseQuery,
      maxParamLength: MAX_PATH_PARAMETER_LENGTH,
      ignoreTrailingSlash: false,
    },
    return503OnClosing: false,
    // No limit for the start. By default a hook that takes ten seconds, on a busy machine, would end the process.
    pluginTimeout: 0,
    exposeHeadRoutes: true,
    frameworkErrors: (error, request, reply) =>
      answerInvalidPath(options, error, { request: request as FastifyRequest, response: reply.raw as ServerResponse }),
    schemaController: { compilersFactory: COMPILERS },
    ajv: {
      customOptions: {
        coerceTypes: false,
        allErrors: false,
        removeAdditional: false,
        useDefaults: true,
        keywords: KEYWORDS,
        formats: FORMATS,
      },
    },
  });
  scopeRequests(app, options.context.pool);
  traceRequests(app, options.name);
  readJson(app);
  app.addHook('onRequest', (request, reply, done) => {
    options.context.traffic.note();
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    // Answers that need a token are personal or secret, so no cache may keep them. Descriptions and pages set their own cache time.
    if (!request.routeOptions.config.open) reply.header('cache-control', 'no-store');
    const { httpVersion, headers } = request.raw;
    const nameless = httpVersion === '1.1' && headers.host === undefined;
    done(nameless ? new Problem('malformed_request', 'header.Host: is required (RFC 9112, 3.2)') : undefined);
  });
  limitBodies(app, options.context.patience);
  app.addHook('preValidation', (request, _reply, done) => {
    replaceNul(request);
    done(request.routeOptions.config.checksQuery ? undefined : checkQuery(request));
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
  app.decorateRequest('party', undefined);
  app.setErrorHandler(answerFailure);
  answerUnknownAddresses(app, options.advice ?? (() => undefined));
  answerUnparsed(app.server, new UnreadRequests(options.name, options.context));
  return app;
}

/** Records the metric and the log line of a request, and its entry in the journal if it was refused. */
function record({ name, context }: ServerOptions, request: FastifyRequest, reply: FastifyReply): void {
  const { method, party, refusal } = request;
  const { url } = request.routeOptions;
  const route = url ?? 'none';
  const status = reply.statusCode;
  requestDuration.observe({ listener: name, method, route, status }, reply.elapsedTime / 1_000);
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  const by = { contact_id: party?.contactId, client_id: party?.clientId };
  request.log.info({ method, route, status, ms, ...by, ...(status >= 400 && refusal) }, 'request');
  if (status < 400) return;
  context.journals.refusedRequests.note({
    listener: name,
    method,
    route: url ?? null,
    status,
    code: refusal?.code ?? null,
    details: refusal?.details ?? null,
    client_id: party?.clientId ?? null,
    contact_id: party?.contactId ?? null,
    application: party?.application ?? null,
    request_id: request.id,
    ms,
  });
}

function answerFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = locate(problemOf(error, request), request);
  request.refusal = { code: problem.code, details: problem.details };
  logFailure(problem, request);
  const { status, body, headers } = answerFor(problem);
  const wait = problem.retryAfterSeconds ?? (status === 429 ? BUSY_RETRY_AFTER_SECONDS : undefined);
  if (wait !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', String(wait));
  if (headers) reply.headers(headers);
  if (problem.code === 'payload_too_large') readOn(reply);
  return reply.code(status).header('cache-control', 'no-store').send(body);
}

/** A path that Fastify cannot decode never reaches the error handler. */
function answerInvalidPath(
  { name, context }: ServerOptions,
  error: FastifyError,
  { request, response }: { request: FastifyRequest; response: ServerResponse },
): void {
  const problem = new Problem('not_found', 'path: must be percent-encoded UTF-8', { cause: error });
  const { status, headers, body } = rawAnswer(problem, String(request.id));
  const traceId = traceIdFrom(request.headers.traceparent);
  new UnreadRequests(name, context).refused({ problem, status, requestId: String(request.id), traceId });
  response.writeHead(status, headers);
  response.end(body);
}

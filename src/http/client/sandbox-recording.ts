import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import type { Session, Sessions } from '../../identity/tokens/sessions.ts';
import { RequestLog } from '../../sandbox/requests/request-log.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { MAX_BODY_BYTES } from '../server/body.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Only in the sandbox. A reader of the log waits here until earlier entries are written. */
    requestLog?: RequestLog;
  }
  interface FastifyRequest {
    recording: Recording | null;
  }
}

/** What is collected about a request while it is answered. */
interface Recording {
  clientId: string;
  cell: number;
  application: string;
  sent: Buffer[];
  answer: string | null;
}

/** Reading the log is not recorded. Otherwise a program that follows the log would push everything else out, and so would the pages' own data. */
const LOG_PATH = '/sandbox/requests';

/**
 * Records the requests of the sandbox's clients: those with a valid token of a contact of the client. Refused requests and unknown
 * addresses are included. Call it after the hook that identifies the caller, and before the routes are registered.
 */
export function recordRequests(app: FastifyInstance, context: Context, sessions: Sessions): void {
  const log = new RequestLog(context.backgroundPool, context.log);
  app.decorate('requestLog', log);
  app.decorateRequest('recording', null);
  app.addHook('onReady', async () => log.start());
  app.addHook('onClose', () => log.stop());

  // Unlike a promise, a callback lets the body's parser start listening in the same turn.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const recording = recordingOf(request);
    if (recording) {
      let bytes = 0;
      payload.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_BODY_BYTES) recording.sent.push(chunk);
      });
    }
    done(null, payload);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const ignored = ignoredParameters(request);
    if (ignored.length > 0) reply.header('x-ignored-parameters', headerOf(ignored));
    if (request.is404) await identifyStray(request, sessions);
    const recording = recordingOf(request);
    // A PDF is not readable as text.
    const isText = typeof payload === 'string' || (Buffer.isBuffer(payload) && !isPdf(reply));
    if (recording && isText) recording.answer = String(payload);
    return payload;
  });
  app.addHook('onResponse', async (request, reply) => {
    const recording = recordingOf(request);
    const { url, config } = request.routeOptions;
    if (!recording || url === LOG_PATH || config.page) return;
    log.add({
      clientId: recording.clientId,
      cell: recording.cell,
      at: request.now,
      method: request.method,
      url: request.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      requestId: request.id,
      application: recording.application,
      token: bearerOf(request),
      graphql: request.url.startsWith('/webhooks/graphql'),
      requestBody: recording.sent.length > 0 ? Buffer.concat(recording.sent).toString() : null,
      responseBody: recording.answer || null,
      ignoredParameters: ignoredParameters(request),
    });
  });
}

function isPdf(reply: FastifyReply): boolean {
  return reply.getHeader('content-type') === 'application/pdf';
}

function recordingOf(request: FastifyRequest): Recording | null {
  if (!request.recording && request.caller) {
    const { clientId, session } = request.caller;
    request.recording = recordingFor(session, clientId);
  }
  return request.recording;
}

/**
 * Identifies the caller of an unknown address. Such a request is answered without checking the token, but the log needs to know whose
 * request it was.
 */
async function identifyStray(request: FastifyRequest, sessions: Sessions): Promise<void> {
  const { client_id: clientId = request.headers['x-client-id'] } = fieldsOf(request.query);
  const session = await Promise.resolve()
    .then(() => sessions.find(bearerOf(request)))
    .catch(() => undefined);
  if (typeof clientId !== 'string' || !session?.clients.has(clientId)) return;
  request.recording = recordingFor(session, clientId);
}

function recordingFor({ applicationId: application, clients }: Session, clientId: string): Recording {
  return { clientId, cell: clients.get(clientId)?.cell ?? 0, application, sent: [], answer: null };
}

function bearerOf(request: FastifyRequest): string {
  return (request.headers.authorization ?? '').slice('Bearer '.length).trim();
}

/** The most names that an answer lists, and the most characters of each. */
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 100;

/**
 * The query parameters that a request's operation does not know. The interface ignores them, so a misspelt filter finds everything. The
 * sandbox therefore reports them.
 */
function ignoredParameters({ is404, query, routeOptions }: FastifyRequest): string[] {
  const { open, page } = routeOptions.config;
  if (is404 || open || page) return [];
  const described = fieldsOf(fieldsOf(routeOptions.schema?.querystring).properties);
  // The listener reads `client_id` from every request.
  const known = new Set([...Object.keys(described), 'client_id']);
  const unknown = Object.keys(fieldsOf(query)).filter((name) => !known.has(name));
  return unknown.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH).toWellFormed());
}

/** Names as the value of a header, encoded as in a query. */
function headerOf(names: readonly string[]): string {
  return names.map(encodeURIComponent).join(', ');
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Patience } from '../../process/patience.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a stream of any length. Its reader checks its pace. */
    stream?: boolean;
  }
}

/** Ends the connections of callers that do not send the bodies that they announced. */
export function limitBodies(app: FastifyInstance, patience: Readonly<Patience>): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (announcesBody(request) && !request.routeOptions.config.stream)
      after(patience.requestMs, request, () => {
        // Like Node's own requestTimeout, which cannot differ between routes.
        const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
        app.server.emit('clientError', late, request.raw.socket);
      });
    done();
  });
  // A caller may hang up while the service checks its token. Reading the body after that would wait for ever.
  app.addHook('preParsing', ({ raw }, _reply, _payload, done) => {
    done(raw.destroyed && !raw.complete ? new Error('the caller hung up before its body was read') : null);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    if (announcesBody(request)) after(patience.answeredMs, request, () => request.raw.socket.destroy());
    done();
  });
}

/**
 * Lets a caller send the rest of a body that is too large, so that it reads the answer. Fastify closes the connection instead. Many callers
 * send a whole body before they read; their connection would be reset, and they would never learn why.
 */
export function readOn(reply: FastifyReply): void {
  reply.removeHeader('connection');
}

function announcesBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Calls `act` if the body is still incomplete after a time. */
function after(milliseconds: number, { raw }: FastifyRequest, act: () => void): void {
  if (raw.complete) return;
  const timer = setTimeout(() => {
    if (!raw.complete && !raw.socket.destroyed) act();
  }, milliseconds).unref();
  // A connection carries many requests, so each must remove its listener.
  const { socket } = raw;
  const cancel = () => {
    clearTimeout(timer);
    socket.off('close', cancel);
  };
  raw.once('close', () => raw.complete && cancel());
  socket.once('close', cancel);
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Patience } from '../../process/patience.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a stream of any length, whose reader watches its pace. */
    stream?: boolean;
  }
}

/** Ends the connections of a listener whose callers do not send the bodies that they announced. */
export function limitBodies(app: FastifyInstance, patience: Readonly<Patience>): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (announcesBody(request) && !request.routeOptions.config.stream)
      after(patience.requestMs, request, () => {
        // As Node's own requestTimeout does, which knows no routes.
        const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
        app.server.emit('clientError', late, request.raw.socket);
      });
    done();
  });
  // A caller may hang up while the service looks at its token. Whoever reads the body after that would wait for ever.
  app.addHook('preParsing', ({ raw }, _reply, _payload, done) => {
    done(raw.destroyed && !raw.complete ? new Error('the caller hung up before its body was read') : null);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    if (announcesBody(request)) after(patience.answeredMs, request, () => request.raw.socket.destroy());
    done();
  });
}

function announcesBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Does something if the body is not complete by then. */
function after(milliseconds: number, { raw }: FastifyRequest, act: () => void): void {
  if (raw.complete) return;
  const timer = setTimeout(() => {
    if (!raw.complete && !raw.socket.destroyed) act();
  }, milliseconds).unref();
  // A connection carries many requests: none may leave its listener behind.
  const { socket } = raw;
  const cancel = () => {
    clearTimeout(timer);
    socket.off('close', cancel);
  };
  raw.once('close', () => raw.complete && cancel());
  socket.once('close', cancel);
}

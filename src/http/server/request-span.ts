import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Span, tracing } from '../../process/tracing.ts';

const SPANS = new WeakMap<FastifyRequest, Span>();

/** Makes a span for each request, as part of the trace that its `traceparent` names. Does nothing if nobody collects traces. */
export function traceRequests(app: FastifyInstance, listener: string): void {
  const traces = tracing();
  if (!traces) return;
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, headers, routeOptions, id } = request;
    const parent = typeof headers.traceparent === 'string' ? headers.traceparent : undefined;
    const span = traces.begin(`${method} ${routeOptions.url ?? 'none'}`, {
      kind: 'server',
      parent,
      attributes: {
        'http.request.method': method,
        'http.route': routeOptions.url ?? 'none',
        'lombard.listener': listener,
        'lombard.request_id': String(id),
      },
    });
    SPANS.set(request, span);
    traces.within(span, done);
  });
  // Reading a body loses the context of the hooks before it.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = SPANS.get(request);
    if (span) traces.within(span, done);
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply;
    const attributes = {
      'http.response.status_code': statusCode,
      ...(request.refusal && { 'lombard.code': request.refusal.code }),
    };
    SPANS.get(request)?.end(attributes, statusCode >= 500 ? (request.refusal?.code ?? String(statusCode)) : undefined);
    done();
  });
}

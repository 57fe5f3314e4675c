import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { metrics } from '../../metrics.ts';
import { readyAnswer } from '../health.ts';
import { jsonAnswer } from '../schemas.ts';

const Liveness = Type.Object({ status: Type.Literal('ok') }, { title: 'Liveness', examples: [{ status: 'ok' }] });
const Ready = Type.Object({ ready: Type.Literal(true) }, { title: 'Ready', examples: [{ ready: true }] });
const Unready = Type.Object(
  { ready: Type.Literal(false), reason: Type.String() },
  { title: 'Unready', examples: [{ ready: false, reason: 'the database does not answer' }] },
);

const LIVE = {
  config: { open: true },
  schema: {
    operationId: 'getLiveness',
    tags: ['health'],
    security: [],
    summary: 'Tell whether the process runs',
    response: { 200: jsonAnswer('It runs', Liveness) },
  },
};

const READY = {
  config: { open: true },
  schema: {
    operationId: 'getReadiness',
    tags: ['health'],
    security: [],
    summary: 'Tell whether the service can answer',
    response: { 200: jsonAnswer('It can', Ready), 503: jsonAnswer('It cannot', Unready) },
  },
};

const METRICS = {
  config: { open: true },
  schema: {
    operationId: 'getMetrics',
    tags: ['health'],
    security: [],
    summary: "Read the metrics in Prometheus' text format",
    response: {
      200: { description: 'The metrics', content: { 'text/plain': { schema: Type.String() } } },
    },
  },
};

/** Health and metrics (docs/operator-interface.md). */
export function operatorHealthRoutes(app: FastifyInstance, context: Context): void {
  app.get('/health/live', LIVE, async () => ({ status: 'ok' }));
  app.get('/health/ready', READY, async (_request, reply) => {
    const { status, body } = readyAnswer(context.readiness.fault());
    return reply.code(status).send(body);
  });
  app.get('/metrics', METRICS, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}

import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { metrics } from '../../metrics.ts';
import { readyAnswer } from '../health.ts';

const LIVE = {
  config: { open: true },
  schema: { operationId: 'getLiveness', tags: ['health'], security: [], summary: 'Tell whether the process runs' },
};

const READY = {
  config: { open: true },
  schema: {
    operationId: 'getReadiness',
    tags: ['health'],
    security: [],
    summary: 'Tell whether the service can answer',
  },
};

const METRICS = {
  config: { open: true },
  schema: {
    operationId: 'getMetrics',
    tags: ['health'],
    security: [],
    summary: "Read the metrics in Prometheus' text format",
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

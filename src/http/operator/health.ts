import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { MAX_HISTORY_HOURS, MEASURES, readServiceHistory } from '../../monitoring/service-minutes.ts';
import { metrics } from '../../process/metrics.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors, jsonAnswer } from '../schemas/schemas.ts';
import { readyAnswer } from '../server/health.ts';
import { READ } from './listener.ts';

const DEFAULT_HISTORY_HOURS = 6;

const Liveness = Type.Object({ status: Type.Literal('ok') }, { title: 'Liveness', examples: [{ status: 'ok' }] });
const Ready = Type.Object({ ready: Type.Literal(true) }, { title: 'Ready', examples: [{ ready: true }] });
const Unready = Type.Object(
  { ready: Type.Literal(false), reason: Type.String() },
  { title: 'Unready', examples: [{ ready: false, reason: 'the database does not answer' }] },
);

const LIVE = operation('GET /health/live', {
  config: { open: true },
  schema: {
    operationId: 'getLiveness',
    tags: ['health'],
    security: [],
    summary: 'Tell whether the process runs',
    response: { 200: jsonAnswer('It runs', Liveness) },
  },
});

const READY = operation('GET /health/ready', {
  config: { open: true },
  schema: {
    operationId: 'getReadiness',
    tags: ['health'],
    security: [],
    summary: 'Tell whether the service can answer',
    response: { 200: jsonAnswer('It can', Ready), 503: jsonAnswer('It cannot', Unready) },
  },
});

const METRICS = operation('GET /metrics', {
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
});

const Values = Type.Array(Type.Number(), { description: 'One for each step' });
const HISTORY = operation('GET /health-history', {
  config: READ,
  schema: {
    operationId: 'getHealthHistory',
    tags: ['health'],
    summary: 'Read how the service has done in the last hours',
    description: 'Of all processes together. Kept for 48 hours.',
    querystring: Type.Object({
      hours: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_HISTORY_HOURS,
          default: DEFAULT_HISTORY_HOURS,
          description: 'Hours back from now',
        }),
      ),
    }),
    response: {
      200: jsonAnswer(
        'Counts and lags, step by step; the last step is not over',
        Type.Object(
          {
            from: Type.String({ format: 'date-time' }),
            step_seconds: Type.Number(),
            measures: Type.Object(
              Object.fromEntries(MEASURES.map((name) => [name, Values])) as Record<
                (typeof MEASURES)[number],
                typeof Values
              >,
            ),
          },
          { title: 'HealthHistory' },
        ),
      ),
      ...errors(400, 403, 502),
    },
  },
});

export type HealthOperations = typeof LIVE | typeof READY | typeof METRICS | typeof HISTORY;

/** Health and metrics (docs/operator-interface.md). */
export function operatorHealthRoutes(app: FastifyInstance, context: Context): void {
  serve(app, LIVE, async () => ({ status: 'ok' as const }));
  serve(app, READY, async (_request, reply) => {
    const { status, body } = readyAnswer(context.readiness.fault());
    return reply.code(status).send(body);
  });
  serve(app, HISTORY, async ({ query, now }) => {
    await context.journals.minutes.write();
    return readServiceHistory(context.pool, now, query.hours ?? DEFAULT_HISTORY_HOURS);
  });
  serve(app, METRICS, async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
}

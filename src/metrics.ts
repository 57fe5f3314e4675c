import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** The metrics of this process, in Prometheus' text format at GET /metrics of the operator listener. */
export const metrics = new Registry();
collectDefaultMetrics({ register: metrics, prefix: 'lombard_' });

/** Seconds, by listener, method, route and status. */
export const requestDuration = new Histogram({
  name: 'lombard_http_request_duration_seconds',
  help: 'Duration of requests in seconds',
  labelNames: ['listener', 'method', 'route', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  registers: [metrics],
});

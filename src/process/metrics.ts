import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of this process. GET /metrics of the health listener and of the operator's serves them in Prometheus' text format. */
export const metrics = new Registry();
collectDefaultMetrics({ register: metrics });

/** What the gauges read from a pool of database connections. */
interface WatchedPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly ended: boolean;
}

const pools = new Set<{ name: string; pool: WatchedPool }>();

/** Includes a pool in the gauges until it has ended. @param name of its connections; `lombard-auth` is shown as `auth` */
export function watchPool(name: string, pool: WatchedPool): void {
  pools.add({ name: name.replace(/^lombard-?/, '') || 'request', pool });
}

/** Sets a gauge for each living pool. Pools with the same name are added up. */
function eachPool(gauge: { reset(): void }, count: (name: string, pool: WatchedPool) => void): void {
  gauge.reset();
  for (const entry of pools) {
    if (entry.pool.ended) pools.delete(entry);
    else count(entry.name, entry.pool);
  }
}

new Gauge({
  name: 'lombard_pool_connections',
  help: 'Database connections by pool and state (idle, busy)',
  labelNames: ['pool', 'state'],
  registers: [metrics],
  collect() {
    eachPool(this, (name, { totalCount, idleCount }) => {
      this.inc({ pool: name, state: 'idle' }, idleCount);
      this.inc({ pool: name, state: 'busy' }, totalCount - idleCount);
    });
  },
});
new Gauge({
  name: 'lombard_pool_waiting',
  help: 'Queries that wait for a database connection, by pool',
  labelNames: ['pool'],
  registers: [metrics],
  collect() {
    eachPool(this, (name, { waitingCount }) => this.inc({ pool: name }, waitingCount));
  },
});

/** In seconds, by listener, method, route and status. */
export const requestDuration = new Histogram({
  name: 'lombard_http_request_duration_seconds',
  help: 'Duration of requests in seconds',
  labelNames: ['listener', 'method', 'route', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  registers: [metrics],
});

/** Attempts of people to sign in. */
export const signInsTotal = new Counter({
  name: 'lombard_sign_ins_total',
  help: 'Attempts to sign in by outcome',
  labelNames: ['outcome'],
  registers: [metrics],
});

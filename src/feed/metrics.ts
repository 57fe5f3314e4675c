import { Gauge } from 'prom-client';
import { contextOf } from '../cell-context.ts';
import type { Context } from '../context.ts';
import { metrics } from '../metrics.ts';
import { listConsumers } from './consumer.ts';
import { readCursors } from './cursor.ts';

let observed: Context | undefined;

/** Sets whose feed the gauges show. They ask the database when they are read. */
export function observeFeed(context: Context | undefined): void {
  observed = context && contextOf(context, 'all');
}

new Gauge({
  name: 'lombard_changes_unpublished_age_seconds',
  help: 'Age of the oldest committed change that is not in the change feed yet',
  registers: [metrics],
  async collect() {
    if (!observed) return;
    const { pool, clock } = observed;
    const found = await pool
      .query<{ oldest: Date | null }>('select min(at) as oldest from changes_unpublished')
      .catch(() => undefined);
    const oldest = found?.rows[0]?.oldest;
    if (found) this.set(oldest ? Math.max(0, (clock.now().getTime() - oldest.getTime()) / 1_000) : 0);
  },
});

new Gauge({
  name: 'lombard_change_consumer_lag',
  help: 'Changes that a consumer of the change feed has not acknowledged',
  labelNames: ['consumer'],
  registers: [metrics],
  async collect() {
    if (!observed) return;
    const { pool, clock } = observed;
    const consumers = await readCursors(pool)
      .then((cursors) => listConsumers(pool, cursors, clock.now()))
      .catch(() => undefined);
    if (!consumers) return;
    this.reset();
    for (const { name, lag_changes: lag } of consumers) this.set({ consumer: name }, lag);
  },
});

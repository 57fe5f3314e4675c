import { Gauge } from 'prom-client';
import type { Context } from '../context.ts';
import { cellPools } from '../database/cells/contexts.ts';
import type { Db } from '../database/database.ts';
import { metrics } from '../process/metrics.ts';
import { listConsumers } from './consumer.ts';
import { readCursors } from './cursor.ts';

/** When the oldest unpublished change was made, over the cells that answer; null if there is none. @throws if no cell answers */
export async function oldestUnpublished(cells: readonly Db[]): Promise<Date | null> {
  const text = 'select min(at) as oldest from changes_unpublished';
  const asked = await Promise.allSettled(cells.map((cell) => cell.query<{ oldest: Date | null }>(text)));
  const told = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.rows[0]?.oldest ?? null] : []));
  const [failed] = asked;
  if (told.length === 0 && failed?.status === 'rejected') throw failed.reason;
  return told.reduce((oldest, each) => (each && (!oldest || each < oldest) ? each : oldest));
}

let observed: Context | undefined;

/** Sets the context whose feed the gauges show. They query the database when they are read. */
export function observeFeed(context: Context | undefined): void {
  observed = context;
}

new Gauge({
  name: 'lombard_changes_unpublished_age_seconds',
  help: 'Age of the oldest committed change that is not in the change feed yet',
  registers: [metrics],
  async collect() {
    if (!observed) return;
    const { pool, clock } = observed;
    const oldest = await cellPools(pool)
      .then(oldestUnpublished)
      .catch(() => undefined);
    if (oldest !== undefined) this.set(oldest ? Math.max(0, (clock.now().getTime() - oldest.getTime()) / 1_000) : 0);
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

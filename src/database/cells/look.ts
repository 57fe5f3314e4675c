import type { Logger } from '../../process/log.ts';
import { Periodic } from '../../process/periodic.ts';
import type { Clock } from '../../values/calendar.ts';
import { first } from '../database.ts';
import type { CellResources } from './activity.ts';

interface LookedInto extends CellResources {
  clock: Clock;
  log: Logger;
}

/** Milliseconds between two looks into a cell where nothing happens: for each cell that there is, but not more than the second number. */
const LOOK_INTERVAL_MS = 400;
const MAX_LOOK_INTERVAL_MS = 2_000;

/**
 * Looks into the cells where nothing happens for work that nobody announced: a process was killed before it could, or something has become
 * due. One statement for each cell; the tasks that have something to do then run at once. Webhooks that are due again are known to the
 * delivery engine.
 */
export function createCellLook({ activity, log }: LookedInto, cells: readonly LookedInto[]): Periodic {
  const asked = new Set<LookedInto>();
  const intervalMs = Math.min(MAX_LOOK_INTERVAL_MS, cells.length * LOOK_INTERVAL_MS);
  const look = async (cell: LookedInto) => {
    asked.add(cell);
    try {
      const found = await cell.backgroundPool.query<{ waits: boolean }>(WAITS, [cell.clock.now()]);
      if (first(found)?.waits && cell.rhythm) activity.heard([cell.rhythm.cell]);
    } catch {
      // The tasks of a cell that does not answer say so.
    } finally {
      asked.delete(cell);
    }
  };
  return new Periodic({
    name: 'idle cells',
    intervalMs,
    log,
    // A cell that gives no answer is not asked again until it has, and nobody waits for it.
    run: async () => {
      for (const cell of cells) if (!asked.has(cell) && cell.rhythm?.quietFor(intervalMs)) void look(cell);
    },
  });
}

/** $1 is the service's time. */
const WAITS = `select exists (select from webhook_outbox) or exists (select from changes_unpublished)
  or exists (select from webhook_queue where ping and lease_owner is null and due_at <= $1)
  or exists (select from payment_total_deltas) or exists (select from payment_approver_deltas) or exists (select from trade_allocation_deltas)
  or exists (select from trade_total_deltas)
  or exists (select from approver_refreshes) or exists (select from audit_unsealed)
  or exists (select from statement_deliveries where status in ('requested', 'making', 'retrying') and due_at <= $1) as waits`;

import type { Logger } from '../../process/log.ts';
import { Periodic } from '../../process/periodic.ts';
import type { Clock } from '../../values/calendar.ts';
import { first } from '../database.ts';
import type { CellResources } from './activity.ts';

interface LookedInto extends CellResources {
  clock: Clock;
  log: Logger;
}

/** Milliseconds between two looks into an idle cell. The interval is the first number times the number of cells, up to the second number. */
const LOOK_INTERVAL_MS = 400;
const MAX_LOOK_INTERVAL_MS = 2_000;

/**
 * Looks into idle cells for work that nobody announced, because a process was killed before it could, or because work has become due. It
 * runs one statement per cell. The tasks that have something to do then run at once. The delivery engine itself knows which webhooks are
 * due again.
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
      // If a cell does not answer, its tasks report that.
    } finally {
      asked.delete(cell);
    }
  };
  return new Periodic({
    name: 'idle cells',
    intervalMs,
    log,
    // A cell that gives no answer is not asked again until it has answered, and nobody waits for it.
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
  or exists (select from statement_deliveries where status in ('requested', 'making', 'retrying') and due_at <= $1)
  or exists (select from mass_payments where not waited
    and (status in ('Queued for processing', 'Processing', 'Queued for creating', 'Creating') or proceeds))
  or exists (select from mass_beneficiaries where created_by is not null and status in ('queued', 'processing')) as waits`;

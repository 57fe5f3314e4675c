import { lockIn } from '../../database/cells/connection.ts';
import { type Pool, transaction } from '../../database/database.ts';
import { LOCKS } from '../../database/locks.ts';

/** Deltas that one statement rolls up. */
const MAX_BATCH_ROWS = 50_000;
const NOTHING = { payments: 0, approvers: 0 };

/**
 * Rolls up the deltas since the last call and returns how many there were. Any number of processes may call it: one of them works
 * and the others return 0 at once. Reads and writes go on meanwhile.
 */
export async function rollUpTotals(pool: Pool): Promise<number> {
  let rolledUp = 0;
  for (;;) {
    const batch = await transaction(pool, async (tx) => {
      const lock = await tx.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [
        lockIn(tx, LOCKS.paymentTotals),
      ]);
      if (!lock.rows[0]?.mine) return NOTHING;
      const { rows } = await tx.query<{ payments: number; approvers: number }>(
        'select roll_up_payment_totals($1) as payments, roll_up_payment_approver_totals($1) as approvers',
        [MAX_BATCH_ROWS],
      );
      return rows[0] ?? NOTHING;
    });
    rolledUp += batch.payments + batch.approvers;
    if (Math.max(batch.payments, batch.approvers) < MAX_BATCH_ROWS) return rolledUp;
  }
}

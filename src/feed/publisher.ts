import { type Pool, transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';

/** Transactions that one statement publishes. */
const MAX_BATCHES_AT_ONCE = 2_000;

/**
 * Gives the committed transactions their places in the feed. One process does it at a time, so that the order is that of the commits:
 * all that it sees was committed before all that it will see. Among those that it sees at once the number of the batch decides. A
 * transaction that depends on another one has taken its number after the other's commit.
 * @returns whether there may be more; `busy` where another process publishes
 */
export async function publishChanges(pool: Pool, now: Date): Promise<boolean | 'busy'> {
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query<{ free: boolean }>('select pg_try_advisory_xact_lock($1) as free', [
      LOCKS.changePublisher,
    ]);
    if (!rows[0]?.free) return 'busy';
    const published = await tx.query({
      name: 'publish-changes',
      text: `with taken as (
          delete from changes_unpublished where batch = any (array(
            select batch from changes_unpublished order by batch limit ${MAX_BATCHES_AT_ONCE})) returning batch, changes)
        insert into change_order (position, batch, changes, at)
        select coalesce((select position + changes from change_order order by position desc limit 1), 1)
            + sum(changes) over (order by batch) - changes, batch, changes, $1 from taken`,
      values: [now],
    });
    return published.rowCount === MAX_BATCHES_AT_ONCE;
  });
}

import { type Pool, type Transaction, transaction } from '../database/database.ts';
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
    if (!(await isPublisher(tx))) return 'busy';
    const published = await tx.query({
      name: 'publish-changes',
      text: `with taken as (
          delete from changes_unpublished where batch = any (array(
            select batch from changes_unpublished order by batch limit ${MAX_BATCHES_AT_ONCE})) returning batch, changes)
        ${placed('taken')}`,
      values: [now],
    });
    return published.rowCount === MAX_BATCHES_AT_ONCE;
  });
}

/**
 * The same for one of several cells, in three steps: it reads what the cell has, gives places where the order is, and then takes it from the
 * cell. While it waits for the cell it holds nothing that the others need, since a cell may give no answer at all. What got its place and was
 * not taken keeps the place that it has: the next run takes it.
 */
export async function publishCell({ cell, order }: { cell: Pool; order: Pool }, now: Date): Promise<boolean | 'busy'> {
  const { rows } = await cell.query<{ batch: number; changes: number }>(
    `select batch, changes from changes_unpublished order by batch limit ${MAX_BATCHES_AT_ONCE}`,
  );
  if (rows.length === 0) return false;
  const batches = rows.map(({ batch }) => batch);
  const found = await transaction(order, async (tx) => {
    if (!(await isPublisher(tx))) return 'busy';
    await tx.query({
      name: 'publish-changes-of-cell',
      text: `with taken as (
          select batch, changes from unnest($2::bigint[], $3::int[]) as u(batch, changes)
          where not exists (select from change_order o where o.batch = u.batch))
        ${placed('taken')}`,
      values: [now, batches, rows.map(({ changes }) => changes)],
    });
    return rows.length === MAX_BATCHES_AT_ONCE;
  });
  if (found !== 'busy') await cell.query('delete from changes_unpublished where batch = any($1::bigint[])', [batches]);
  return found;
}

/** Whether this transaction is the one that publishes, until its end. */
async function isPublisher(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>('select pg_try_advisory_xact_lock($1) as free', [
    LOCKS.changePublisher,
  ]);
  return rows[0]?.free === true;
}

/** SQL that gives batches the next places. $1 is the time. */
const placed = (taken: string) => `insert into change_order (position, batch, changes, at)
  select coalesce((select position + changes from change_order order by position desc limit 1), 1)
      + sum(changes) over (order by batch) - changes, batch, changes, $1 from ${taken}`;

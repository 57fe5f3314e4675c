import { withinCell } from '../database/cells/connection.ts';
import { cellPools, inEach } from '../database/cells/contexts.ts';
import { cellOfNumber } from '../database/cells/scope.ts';
import { type Db, one, type Pool, type Transaction, transaction } from '../database/database.ts';

const DAY_MS = 86_400_000;
/** Changes that a consumer has not acknowledged are kept this many times as long. */
const MAX_RETENTION_FACTOR = 4;
/** Milliseconds for which the published changes of further cells are kept as copies. Readers that are further behind read in the cells. */
const COPIES_MS = 3_600_000;
/** The number of transactions whose changes one statement deletes. */
const CLEARED_BATCHES = 200;

/** The beginning and the end of the feed. */
export interface FeedEnds {
  /** The newest position that is no longer kept; 0 if all are kept. */
  floor: number;
  /** The newest position that was published. */
  last: number;
}

/**
 * The current beginning and end of the feed. Changes that are too old count as gone, whether or not they have been deleted.
 * @param days LOMBARD_CHANGES_RETENTION_DAYS
 */
export async function feedEnds(db: Db, now: Date, days: number): Promise<FeedEnds> {
  const before = (age: number) => new Date(now.getTime() - age * DAY_MS);
  const ends = await db.query<FeedEnds>({
    name: 'change-feed-ends',
    text: `with ends as (select
        (select position + changes - 1 from change_order where at < $1 order by at desc, position desc limit 1) as old,
        (select position + changes - 1 from change_order where at < $2 order by at desc, position desc limit 1) as very_old,
        (select position - 1 from change_order order by position limit 1) as cleared,
        (select position + changes - 1 from change_order order by position desc limit 1) as last,
        (select min(position) from change_consumers) as held)
      select coalesce(last, 0) as last,
        greatest(coalesce(cleared, 0), coalesce(very_old, 0), least(coalesce(old, 0), held)) as floor from ends`,
    values: [before(days), before(days * MAX_RETENTION_FACTOR)],
  });
  return one(ends);
}

/** Deletes what is no longer kept, in all cells. The newest transaction keeps its place, because the next place is counted from it. */
export async function clearChanges(pool: Pool, now: Date, days: number): Promise<void> {
  const { floor } = await feedEnds(pool, now, days);
  while ((await transaction(pool, (tx) => clearBatches(tx, floor))) === CLEARED_BATCHES) {
    // Continue with the next batches.
  }
  await pool.query('delete from changes_recent where at < $1', [new Date(now.getTime() - COPIES_MS)]);
  // Selected by the time of the change, which for an import is its start; so they may be up to a day of import older.
  await inEach(await cellPools(pool), async (cell) => {
    await cell.query(
      `delete from change_tallies where at < (select at from change_order order by position limit 1) - interval '1 day'`,
    );
  });
}

/** Deletes some transactions that end at or before a position. @returns their number */
export async function clearBatches(tx: Transaction, floor: number): Promise<number> {
  const { rows } = await tx.query<{ batch: number }>(
    `delete from change_order where position in (
       select position from change_order where position + changes - 1 <= $1
         and position < (select max(position) from change_order) order by position limit ${CLEARED_BATCHES} for update)
     returning batch`,
    [floor],
  );
  const batches = rows.map(({ batch }) => batch);
  for (const [cell, ofCell] of Map.groupBy(batches, cellOfNumber))
    await withinCell(tx, cell, () => tx.query('delete from changes where batch = any($1::bigint[])', [ofCell]));
  return rows.length;
}

import { cellOfPool } from '../database/cells/pool.ts';
import { type Pool, type Transaction, transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';

/** The most transactions that one statement publishes. */
const MAX_BATCHES_AT_ONCE = 2_000;
/** The most bytes of changes, in their stored form, that are read from a cell at once. */
const MAX_READ_BYTES = 8_388_608;

/**
 * Gives the committed transactions their places in the feed. One process does this at a time, so the order follows the commits: everything
 * it sees was committed before everything it will see later. Transactions that it sees at the same time are ordered by the number of the
 * batch. A transaction that depends on another one took its number after the other's commit.
 * @returns whether there may be more; `busy` if another process publishes
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
 * Like `publishChanges`, for one of several cells. It takes three steps: it reads what the cell has, gives places where the order is, and
 * then removes it from the cell. While it waits for the cell it holds nothing that the others need, because a cell may give no answer at
 * all. If something has its place but was not removed, the next run removes it; it keeps its place. The changes of a further cell are
 * copied next to their places (`changes_recent`).
 */
export async function publishCell({ cell, order }: { cell: Pool; order: Pool }, now: Date): Promise<boolean | 'busy'> {
  const further = cellOfPool(cell) !== 0;
  const { rows: waiting } = await cell.query<{ batch: number; changes: number; bytes: number }>(
    `select batch, changes, ${further ? '(select sum(pg_column_size(c.body)) from changes c where c.batch = u.batch)' : '0'}::int8 as bytes
     from (select batch, changes from changes_unpublished order by batch limit ${MAX_BATCHES_AT_ONCE}) u order by batch`,
  );
  if (waiting.length === 0) return false;
  let bytes = 0;
  const rows = waiting.filter((row, index) => {
    bytes += row.bytes;
    return index === 0 || bytes <= MAX_READ_BYTES;
  });
  const batches = rows.map(({ batch }) => batch);
  const copies = further ? await readCopies(cell, batches) : [];
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
    if (copies.length > 0) await tx.query({ name: 'copy-changes', text: COPY, values: [now, `[${copies.join(',')}]`] });
    return rows.length < waiting.length || rows.length === MAX_BATCHES_AT_ONCE;
  });
  if (found !== 'busy') await cell.query('delete from changes_unpublished where batch = any($1::bigint[])', [batches]);
  return found;
}

/** The changes of some transactions as JSON, one text for each row of the table. */
async function readCopies(cell: Pool, batches: readonly number[]): Promise<string[]> {
  const { rows } = await cell.query<{ copy: string }>(
    'select row_to_json(c)::text as copy from changes c where batch = any($1::bigint[])',
    [batches],
  );
  return rows.map(({ copy }) => copy);
}

/** SQL that copies changes. $1 is the time. */
const COPY = `insert into changes_recent (batch, place, changes, client_ids, entities, body, at)
  select batch, place, changes, client_ids, entities, body, $1 from json_to_recordset($2::json)
    as c(batch bigint, place int, changes int, client_ids text[], entities text[], body text)
  on conflict do nothing`;

/** Whether this transaction is the publisher until it ends. */
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

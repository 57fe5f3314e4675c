import { withinCell } from '../database/cells/connection.ts';
import { cellOfPool } from '../database/cells/pool.ts';
import { one, type Pool, type Transaction, transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { present } from '../values/unknown.ts';

/** The most transactions that one statement publishes. */
const MAX_BATCHES_AT_ONCE = 2_000;
/** The most bytes of changes, in their stored form, that are read from a cell at once. */
const MAX_READ_BYTES = 8_388_608;

/** Where changes wait, and where the order of the feed is: the same pool if the database has one cell. */
interface Ways {
  cell: Pool;
  order: Pool;
}

/**
 * Gives the committed transactions of a cell their places in the feed. One process does this at a time, so the order follows the commits.
 * Transactions of one cell that it sees at the same time are ordered by the number of the batch: a transaction that depends on another one
 * took its number after the other's commit. What exists once, and what changes several cells, is in the first cell, on the server of the
 * order. So the first cell is always published with any other. What a transaction of a further cell depends on is seen there, because the
 * further cell was read before.
 * @returns whether there may be more; `busy` if another process publishes
 */
export async function publishChanges({ cell, order }: Ways, now: Date): Promise<boolean | 'busy'> {
  if (cellOfPool(cell) !== 0) return publishFurther({ cell, order }, now);
  return transaction(order, async (tx) => ((await isPublisher(tx)) ? placeFirst(tx, now) : 'busy'));
}

/**
 * Publishes a further cell in three steps: it reads what the cell has, gives places where the order is, and then removes it from the cell.
 * While it waits for the cell it holds nothing that the others need, because a cell may give no answer at all. If something has its place
 * but was not removed, the next run removes it; it keeps its place. The changes are copied next to their places (`changes_recent`).
 */
async function publishFurther({ cell, order }: Ways, now: Date): Promise<boolean | 'busy'> {
  const { rows: waiting } = await cell.query<Waiting & { bytes: number }>(
    `select batch, changes, (select sum(pg_column_size(c.body)) from changes c where c.batch = u.batch)::int8 as bytes
     from (select batch, changes from changes_unpublished order by batch limit ${MAX_BATCHES_AT_ONCE}) u order by batch`,
  );
  if (waiting.length === 0) return false;
  let bytes = 0;
  const rows = waiting.filter((row, index) => {
    bytes += row.bytes;
    return index === 0 || bytes <= MAX_READ_BYTES;
  });
  const batches = rows.map(({ batch }) => batch);
  const copies = await readCopies(cell, batches);
  const found = await transaction(order, async (tx) => {
    if (!(await isPublisher(tx))) return 'busy';
    while (await placeFirst(tx, now));
    await place(tx, rows, now);
    await tx.query({ name: 'copy-changes', text: COPY, values: [now, `[${copies.join(',')}]`] });
    return rows.length < waiting.length || rows.length === MAX_BATCHES_AT_ONCE;
  });
  if (found !== 'busy') await cell.query('delete from changes_unpublished where batch = any($1::bigint[])', [batches]);
  return found;
}

/**
 * Gives a transaction that has changed records of several cells its place, as the last thing before its commit. A publisher reads one cell
 * after the other, and could see it before or after changes of the same records. Here, the transaction holds its records: whatever was
 * changed in them before is committed and gets its place first, and nothing can be changed in them until the commit.
 * @param own the transaction's batch
 * @param cells in which it has changed records
 */
export async function placeAtCommit(tx: Transaction, own: Waiting, cells: Iterable<number>, now: Date): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [LOCKS.changePublisher]);
  for (const cell of new Set([...cells, 0]))
    for (let after = -1; ; ) {
      const { rows } = await withinCell(tx, cell, () =>
        tx.query<Waiting>(
          `select batch, changes from changes_unpublished where batch > $1 and batch <> $2 order by batch limit ${MAX_BATCHES_AT_ONCE}`,
          [after, own.batch],
        ),
      );
      await place(tx, rows, now);
      if (rows.length < MAX_BATCHES_AT_ONCE) break;
      after = present(rows.at(-1)).batch;
    }
  await place(tx, [own], now);
}

/** A transaction whose changes have no place yet. */
interface Waiting {
  batch: number;
  /** The number of its changes. */
  changes: number;
}

/** Gives the next places to what the first cell has. @param tx the publisher, in the first cell @returns whether there may be more */
async function placeFirst(tx: Transaction, now: Date): Promise<boolean> {
  const { taken } = one(
    await tx.query<{ taken: number }>({
      name: 'publish-changes',
      text: `with taken as (
          delete from changes_unpublished where batch = any (array(
            select batch from changes_unpublished order by batch limit ${MAX_BATCHES_AT_ONCE})) returning batch, changes),
        placed as (${placed('taken')})
        select count(*)::int as taken from taken`,
      values: [now],
    }),
  );
  return taken === MAX_BATCHES_AT_ONCE;
}

/** Gives the next places to those of some transactions that have none. @param tx the publisher */
async function place(tx: Transaction, waiting: readonly Waiting[], now: Date): Promise<void> {
  if (waiting.length === 0) return;
  await tx.query({
    name: 'publish-changes-of-cell',
    text: `with taken as (select * from unnest($2::bigint[], $3::int[]) as u(batch, changes)) ${placed('taken')}`,
    values: [now, waiting.map(({ batch }) => batch), waiting.map(({ changes }) => changes)],
  });
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

/** SQL that gives those batches that have no place the next places. $1 is the time. */
const placed = (taken: string) => `insert into change_order (position, batch, changes, at)
  select coalesce((select position + changes from change_order order by position desc limit 1), 1)
      + sum(changes) over (order by batch) - changes, batch, changes, $1 from ${taken}
  where not exists (select from change_order o where o.batch = ${taken}.batch)`;

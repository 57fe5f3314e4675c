import { cellPools, inEach } from '../database/cells/contexts.ts';
import { cellOfPool, poolOf, refuseWhileSilent } from '../database/cells/pool.ts';
import { NUMBERS_OF_CELL } from '../database/cells/scope.ts';
import { type Db, first, type Pool, type Transaction, transaction } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';
import { KEYED_CONTENT, keyedLink, markOf } from './chain.ts';
import { CHAIN, type ChainEnd, lockChain, moveEnd, openEnd, settledEnd, WAITING } from './end.ts';
import { type ChainKey, chainKey } from './key.ts';
import { momentText, type RowPlace, readRows } from './rows.ts';

/** The number of rows that one transaction seals. Hashing them keeps other requests waiting for 5 ms; 5,000 rows took 100. */
const SEAL_BATCH_ROWS = 250;
/** How often to check whether all links have arrived. */
const MAX_SETTLING_ATTEMPTS = 50;

interface Unsealed extends RowPlace {
  actor: string;
  entity: string;
  entity_id: string;
  client_id: string | null;
  content: string;
}
const UNSEALED = `a.id, ${momentText('a.at')} as at, a.actor, a.entity, a.entity_id, a.client_id, ${KEYED_CONTENT} as content`;

/**
 * Chains all rows of all cells that were committed before the call.
 * @returns if there are several cells, a place up to which all links are in their cells
 * @throws ChainKeyFault; Error of the database if a cell gives no answer
 */
export async function sealCells(pool: Pool, vault: Vault): Promise<ChainEnd | undefined> {
  refuseWhileSilent(pool);
  const pools = await cellPools(pool);
  if (pools.length === 1) return void (await sealInOrder(pools, vault));
  // Others seal meanwhile, and each link is on its way for some milliseconds.
  for (let attempt = 0; attempt < MAX_SETTLING_ATTEMPTS; attempt += 1) {
    await sealInOrder(pools, vault);
    const settled = await settledEnd(pool);
    if (settled !== 'waits') return settled;
  }
  throw new Error('links of the audit chain do not reach their cells');
}

/**
 * Chains the rows of some cells, oldest first, because the retention keeps an old row behind newer ones as long as those. A cell that fails
 * does not stop the others.
 * @param pools one for each cell
 * @param each how the work goes from one cell to the next
 * @throws ChainKeyFault
 */
export async function sealInOrder(
  pools: readonly Pool[],
  vault: Vault,
  each: (pools: readonly Pool[], work: (pool: Pool) => Promise<void>) => Promise<void> = inEach,
): Promise<void> {
  // A single cell needs no order, but it too may take long, so `each` runs it.
  if (pools.length === 1) return each(pools, (pool) => sealAll(pool, vault));
  const waiting: { pool: Pool; oldest: number }[] = [];
  const looking = each(pools, async (pool) => {
    const row = first(await pool.query<{ at: Date | number }>('select at from audit_unsealed order by id limit 1'));
    if (row) waiting.push({ pool, oldest: Number(row.at) });
  });
  const failure = await looking.catch((error: Error) => error);
  waiting.sort((a, b) => a.oldest - b.oldest);
  await each(
    waiting.map(({ pool }) => pool),
    (pool) => sealAll(pool, vault),
  );
  if (failure) throw failure;
}

/** Chains all rows of the pool's cell that were committed before the call. @throws ChainKeyFault */
export async function sealAll(pool: Pool, vault: Vault): Promise<void> {
  const cell = Number(cellOfPool(pool));
  const seal =
    cell > 0 ? () => sealFurther({ pool, once: poolOf(pool, 0), cell }, vault) : () => sealBatch(pool, vault);
  while ((await seal()) === SEAL_BATCH_ROWS) {
    // Continue with the next batch.
  }
}

/** Chains rows that were committed since the last call, and returns their number. One process works at a time; the others wait. */
async function sealBatch(pool: Pool, vault: Vault): Promise<number> {
  // Most calls find nothing, and need no transaction.
  if (!first(await pool.query('select from audit_unsealed limit 1'))) return 0;
  return transaction(pool, async (tx) => {
    await lockChain(tx);
    const { ids, rows } = await unsealedRows(tx);
    const end = await addLinks(tx, CHAIN, rows, await chainKey(tx, vault));
    if (end?.shared) await moveEnd(tx, CHAIN, end);
    await tx.query('delete from audit_unsealed where id = any($1::bigint[])', [ids]);
    return ids.length;
  });
}

/** A further cell, and the pool for what exists once. */
interface Further {
  pool: Pool;
  once: Pool;
  cell: number;
}

/**
 * Like `sealBatch`, for a further cell. Its server may stop answering at any moment, so nobody waits for it under the lock of the chain.
 * The links are made and stored where the chain ends, and then moved to their rows. Whoever seals next moves what was left.
 */
async function sealFurther(further: Further, vault: Vault): Promise<number> {
  const { pool, once, cell } = further;
  const turn = first(await once.query<{ seals: number }>('select seals from cells where number = $1', [cell]));
  await bringLinks(further);
  const { ids, rows } = await unsealedRows(pool);
  if (ids.length === 0) return 0;
  const sealed = await transaction(once, async (tx) => {
    await lockChain(tx);
    const taken = await tx.query('update cells set seals = seals + 1 where number = $1 and seals = $2', [
      cell,
      turn?.seals,
    ]);
    if (taken.rowCount === 0) return false;
    const end = await addLinks(tx, WAITING, rows, await chainKey(tx, vault));
    if (end) await moveEnd(tx, WAITING, end);
    return true;
  });
  // Somebody else has sealed the rows that were read.
  if (!sealed) return SEAL_BATCH_ROWS;
  await bringLinks(further, ids);
  return ids.length;
}

/** Moves the links of a cell to their rows. @param sealed rows that are sealed with them, including those that no longer exist */
async function bringLinks({ pool, once, cell }: Further, sealed: number[] = []): Promise<void> {
  const { rows } = await once.query<{ position: number; audit_id: number; link: string }>(
    `select position, audit_id, row_to_json(l)::text as link from ${WAITING} l
     where audit_id >= $1 and audit_id < $2 order by position limit ${SEAL_BATCH_ROWS}`,
    [cell * NUMBERS_OF_CELL, (cell + 1) * NUMBERS_OF_CELL],
  );
  if (rows.length + sealed.length === 0) return;
  await transaction(pool, async (tx) => {
    await tx.query(
      `insert into ${CHAIN} (${LINK_COLUMNS}) select ${LINK_COLUMNS} from json_to_recordset($1::json)
         as l(position bigint, audit_id bigint, at timestamptz, latest_at timestamptz, late boolean, entity text, entity_id text,
           client_id text, actor text, hash bytea)
       on conflict do nothing`,
      [`[${rows.map(({ link }) => link).join(',')}]`],
    );
    const ids = [...sealed, ...rows.map(({ audit_id: id }) => id)];
    await tx.query('delete from audit_unsealed where id = any($1::bigint[])', [ids]);
  });
  await once.query(`delete from ${WAITING} where position = any($1::bigint[])`, [rows.map(({ position }) => position)]);
}

/** The oldest rows of a cell without a link. @returns `ids`: also of rows that no longer exist */
async function unsealedRows(db: Db): Promise<{ ids: number[]; rows: Unsealed[] }> {
  const { rows: places } = await db.query<RowPlace>(
    `select id, ${momentText('at')} as at from audit_unsealed order by id limit $1`,
    [SEAL_BATCH_ROWS],
  );
  const rows = await readRows<Unsealed>(db, places, { columns: UNSEALED });
  return { ids: places.map(({ id }) => id), rows: rows.sort((a, b) => a.id - b.id) };
}

const LINK_COLUMNS = 'position, audit_id, at, latest_at, late, entity, entity_id, client_id, actor, hash';

/**
 * Makes the links of some rows.
 * @param table CHAIN or WAITING
 * @returns the new end of the chain; undefined if there were no rows
 */
async function addLinks(
  tx: Transaction,
  table: string,
  rows: readonly Unsealed[],
  key: ChainKey,
): Promise<(ChainEnd & { shared: boolean }) | undefined> {
  if (rows.length === 0) return undefined;
  const { position, hash, latest, shared } = await openEnd(tx);
  let previous = hash;
  const hashes = rows.map(({ content }, index) => {
    previous = keyedLink(key, previous, { position: position + 1 + index, mark: markOf(key, content) });
    return previous;
  });
  // The columns that lists filter by are copied from the rows. Verification compares them.
  await tx.query(
    `insert into ${table} (${LINK_COLUMNS})
     select $1 + n, id, at, latest_at, at < latest_at - interval '24 hours', entity, entity_id, client_id, actor, hash
     from (select *, greatest(max(at) over (order by n), $9::timestamptz) as latest_at
       from unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[])
         with ordinality as u(id, at, entity, entity_id, client_id, actor, hash, n)) u`,
    [
      position,
      rows.map(({ id }) => id),
      rows.map(({ at }) => at),
      rows.map(({ entity }) => entity),
      rows.map(({ entity_id }) => entity_id),
      rows.map(({ client_id }) => client_id),
      rows.map(({ actor }) => actor),
      hashes,
      latest,
    ],
  );
  return { position: position + rows.length, hash: previous, shared };
}

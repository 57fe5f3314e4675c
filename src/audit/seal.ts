import { cellPools, inEach } from '../database/cells/contexts.ts';
import { refuseWhileSilent } from '../database/cells/pool.ts';
import { type Db, first, type Pool, transaction } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';
import { KEYED_CONTENT, keyedLink, markOf } from './chain.ts';
import { lockChain, moveEnd, openEnd } from './end.ts';
import { chainKey } from './key.ts';
import { momentText, type RowPlace, readRows } from './rows.ts';

/** Rows that one transaction seals. */
const SEAL_BATCH_ROWS = 5_000;

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
 * @throws ChainKeyFault; Error of the database, where a cell gives no answer
 */
export async function sealCells(pool: Pool, vault: Vault): Promise<void> {
  refuseWhileSilent(pool);
  await sealInOrder(await cellPools(pool), vault);
}

/**
 * Chains the rows of some cells, the oldest first: what comes behind newer rows is kept as long as they are. A cell that fails holds up no
 * other.
 * @param pools one for each cell
 * @param each how the work goes from one to the next
 * @throws ChainKeyFault
 */
export async function sealInOrder(
  pools: readonly Pool[],
  vault: Vault,
  each: (pools: readonly Pool[], work: (pool: Pool) => Promise<void>) => Promise<void> = inEach,
): Promise<void> {
  if (pools.length === 1) return sealAll(pools[0] as Pool, vault);
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

/** Chains all rows of the cell of a pool that were committed before the call. @throws ChainKeyFault */
export async function sealAll(pool: Pool, vault: Vault): Promise<void> {
  while ((await sealBatch(pool, vault)) === SEAL_BATCH_ROWS) {
    // The next batch.
  }
}

/** Chains rows that were committed since the last call; returns how many. One process works at a time, the others wait. */
async function sealBatch(pool: Pool, vault: Vault): Promise<number> {
  // Most calls find nothing, and need no transaction.
  if (!first(await pool.query('select from audit_unsealed limit 1'))) return 0;
  return transaction(pool, async (tx) => {
    await lockChain(tx);
    const { rows: places } = await tx.query<RowPlace>(
      `select id, ${momentText('at')} as at from audit_unsealed order by id limit $1`,
      [SEAL_BATCH_ROWS],
    );
    const rows = await readRows<Unsealed>(tx, places, { columns: UNSEALED });
    rows.sort((a, b) => a.id - b.id);
    const key = await chainKey(tx, vault);
    const { position, hash, latest, shared } = await openEnd(tx);
    let previous = hash;
    const hashes = rows.map(({ content }, index) => {
      previous = keyedLink(key, previous, { position: position + 1 + index, mark: markOf(key, content) });
      return previous;
    });
    if (rows.length > 0) {
      await addLinks(tx, { position, latest }, { rows, hashes });
      if (shared) await moveEnd(tx, { position: position + rows.length, hash: previous });
    }
    await tx.query('delete from audit_unsealed where id = any($1::bigint[])', [places.map(({ id }) => id)]);
    return places.length;
  });
}

/** What lists filter by is copied from the rows; the verification compares it. */
async function addLinks(
  tx: Db,
  end: { position: number; latest: string | null },
  { rows, hashes }: { rows: Unsealed[]; hashes: Buffer[] },
): Promise<void> {
  await tx.query(
    `insert into audit_chain (position, audit_id, at, latest_at, late, entity, entity_id, client_id, actor, hash)
     select $1 + n, id, at, latest_at, at < latest_at - interval '24 hours', entity, entity_id, client_id, actor, hash
     from (select *, greatest(max(at) over (order by n), $9::timestamptz) as latest_at
       from unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[])
         with ordinality as u(id, at, entity, entity_id, client_id, actor, hash, n)) u`,
    [
      end.position,
      rows.map(({ id }) => id),
      rows.map(({ at }) => at),
      rows.map(({ entity }) => entity),
      rows.map(({ entity_id }) => entity_id),
      rows.map(({ client_id }) => client_id),
      rows.map(({ actor }) => actor),
      hashes,
      end.latest,
    ],
  );
}

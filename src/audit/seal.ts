import type { Vault } from '../crypto.ts';
import { type Db, first, type Pool, transaction } from '../database.ts';
import { LOCKS } from '../locks.ts';
import { GENESIS, KEYED_CONTENT, keyedLink, markOf } from './chain.ts';
import { chainKey } from './key.ts';
import { momentText, type RowPlace, readRows } from './rows.ts';

/** Rows that one transaction seals. */
const SEAL_BATCH_ROWS = 5_000;

/** The end of the chain, or another place in it. */
export interface ChainEnd {
  /** 0: before the first row. */
  position: number;
  hash: Buffer;
}

interface Unsealed extends RowPlace {
  actor: string;
  entity: string;
  entity_id: string;
  client_id: string | null;
  content: string;
}
const UNSEALED = `a.id, ${momentText('a.at')} as at, a.actor, a.entity, a.entity_id, a.client_id, ${KEYED_CONTENT} as content`;

/** Takes the lock under which one process works on the chain, until the end of the transaction. */
export async function lockChain(tx: Db): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [LOCKS.auditSeal]);
}

/** The end of the chain. Behind the retention's floor nothing needs to be left. */
export async function chainEnd(db: Db): Promise<ChainEnd> {
  const { rows } = await db.query<ChainEnd>(
    `(select position, hash from audit_chain order by position desc limit 1)
     union all (select position, hash from audit_heads where floor order by position desc limit 1)
     order by position desc limit 1`,
  );
  return rows[0] ?? { position: 0, hash: GENESIS };
}

/** Chains all rows that were committed before the call. @throws ChainKeyFault */
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
    const { position, hash } = await chainEnd(tx);
    let previous = hash;
    const hashes = rows.map(({ content }, index) => {
      previous = keyedLink(key, previous, { position: position + 1 + index, mark: markOf(key, content) });
      return previous;
    });
    if (rows.length > 0) await addLinks(tx, position, { rows, hashes });
    await tx.query('delete from audit_unsealed where id = any($1::bigint[])', [places.map(({ id }) => id)]);
    return places.length;
  });
}

/** What lists filter by is copied from the rows; the verification compares it. */
async function addLinks(
  tx: Db,
  position: number,
  { rows, hashes }: { rows: Unsealed[]; hashes: Buffer[] },
): Promise<void> {
  await tx.query(
    `insert into audit_chain (position, audit_id, at, latest_at, late, entity, entity_id, client_id, actor, hash)
     select $1 + n, id, at, latest_at, at < latest_at - interval '24 hours', entity, entity_id, client_id, actor, hash
     from (select *, greatest(max(at) over (order by n), (select latest_at from audit_chain where position = $1)) as latest_at
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
    ],
  );
}

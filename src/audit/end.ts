import { withinCell } from '../database/cells/connection.ts';
import { hasSeveralCells } from '../database/cells/pool.ts';
import { overCells } from '../database/cells/union.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { GENESIS } from './chain.ts';
import { momentText } from './rows.ts';

/** The end of the chain, or another place in it. */
export interface ChainEnd {
  /** 0: before the first row. */
  position: number;
  hash: Buffer;
}

/** The place where the next link is added, with what it needs. */
interface OpenEnd extends ChainEnd {
  /** The latest moment up to here, with all its digits; null if no remaining link records it. */
  latest: string | null;
  /** Whether several cells share the chain. This is how a process that was started when there was one cell learns of the others. */
  shared: boolean;
}

/** The table of the links. A row's link is in the row's cell. Links that have not reached their further cell yet wait in a table that exists once. */
export const CHAIN = 'audit_chain';
export const WAITING = 'audit_links';
/** Milliseconds that others wait for the lock of the chain if there are several cells. */
const MAX_LOCK_WAIT_MS = 2_000;

/**
 * Takes the lock under which one process works on the chain, until the end of the transaction.
 * @throws Error of PostgreSQL if it is not free in time
 */
export async function lockChain(tx: Db): Promise<void> {
  const lock = `select pg_advisory_xact_lock(${LOCKS.auditSeal})`;
  // A cell may stop answering while somebody seals it, and every caller that waits for that holds a connection.
  const patient = `set local lock_timeout = ${MAX_LOCK_WAIT_MS}; ${lock}; set local lock_timeout = default`;
  await tx.query(hasSeveralCells(tx) ? patient : lock);
}

/** The links at some positions of the chain. If somebody has forged one, a position may have links in several cells. */
export async function linksAt(db: Db, positions: readonly number[]): Promise<ChainEnd[]> {
  const from = (table: string) => `select position, hash from ${table} where position = any($1::bigint[])`;
  // Read first: a link that has left this table has reached its cell.
  const waiting = hasSeveralCells(db) ? (await db.query<ChainEnd>(from(WAITING), [positions])).rows : [];
  const { rows } = await db.query<ChainEnd>(`select position, hash from ${overCells(db, CHAIN, from(CHAIN))} c`, [
    positions,
  ]);
  const there = new Set(rows.map(({ position }) => position));
  return [...rows, ...waiting.filter(({ position }) => !there.has(position))];
}

/**
 * If there are several cells: where the chain ends at a moment when all its links are in their cells.
 * @returns `waits` if some are still on their way; undefined if nothing was sealed since there are several cells
 */
export async function settledEnd(db: Db): Promise<ChainEnd | 'waits' | undefined> {
  const { rows } = await db.query<{ waits: boolean } & ChainEnd>(
    `select exists (select from ${WAITING}) as waits, position, hash from audit_end`,
  );
  return rows[0]?.waits ? 'waits' : rows[0];
}

/** The first position that can have a row from a moment on. It is well defined because the latest moment up to a position never decreases. */
export async function positionFrom(db: Db, moment: Date): Promise<number | undefined> {
  const order = 'order by latest_at, position limit 1';
  const from = (table: string) => `select latest_at, position from ${table} where latest_at >= $1 ${order}`;
  const find = (select: string) =>
    db.query<{ position: number }>(`select position from (${select}) c ${order}`, [moment]);
  const waiting = hasSeveralCells(db) ? first(await find(from(WAITING))) : undefined;
  const there = first(await find(overCells(db, CHAIN, from(CHAIN))));
  return there && waiting ? Math.min(there.position, waiting.position) : (there ?? waiting)?.position;
}

/** The end of the links that exist. Behind the retention's floor there may be none. */
export async function chainEnd(db: Db): Promise<ChainEnd> {
  const last = overCells(db, CHAIN, `select position, hash from ${CHAIN} order by position desc limit 1`);
  const { rows } = await db.query<ChainEnd>(
    `select position, hash from ${last} c
     union all (select position, hash from audit_heads where floor order by position desc limit 1)
     order by position desc limit 1`,
  );
  return rows[0] ?? { position: 0, hash: GENESIS };
}

/**
 * The end at which the next link is added. The cells of a database share one chain. The first cell has its oldest links, and `audit_end`
 * records where it ends since there are other cells. Otherwise that table is empty.
 * @param tx holds the lock of the chain
 */
export async function openEnd(tx: Transaction): Promise<OpenEnd> {
  const end = await withinCell(tx, 0, () =>
    tx.query<OpenEnd>(
      `select position, hash, ${momentText('latest_at')} as latest, exists (select from audit_end) as shared from (
         (select position, hash, latest_at from audit_chain order by position desc limit 1)
         union all select position, hash, latest_at from audit_end
         union all (select position, hash, null from audit_heads where floor order by position desc limit 1)) e
       order by position desc, latest_at desc nulls last limit 1`,
    ),
  );
  const { shared = false, ...found } = first(end) ?? { position: 0, hash: GENESIS, latest: null };
  return { ...found, shared: shared || hasSeveralCells(tx) };
}

/**
 * Records where a shared chain ends, after links were added.
 * @param tx holds the lock of the chain
 * @param table to which they were added
 */
export async function moveEnd(tx: Transaction, table: string, { position, hash }: ChainEnd): Promise<void> {
  await tx.query(
    `insert into audit_end (position, hash, latest_at) select position, $2, latest_at from ${table} where position = $1
     on conflict ("only") do update set position = excluded.position, hash = excluded.hash, latest_at = excluded.latest_at`,
    [position, hash],
  );
}

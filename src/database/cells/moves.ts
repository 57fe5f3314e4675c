import { setTimeout as pause } from 'node:timers/promises';
import { type Db, type Pool, transaction } from '../database.ts';

/** The servers that can hold a cell, in the form that `lombard cells list` prints. */
export async function cellNodes(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ node: string }>(
    `select nodename || ':' || nodeport as node from pg_dist_node
     where noderole = 'primary' and isactive and shouldhaveshards order by 1`,
  );
  return rows.map(({ node }) => node);
}

/**
 * Moves a distributed cell to another server while its clients work. Citus copies it by logical replication; writers wait while the last
 * changes are copied. The server must have the database's roles and their settings (`migrateSettings`). If a server dies in the middle,
 * Citus may wait for it for two hours, so the move is ended instead.
 * @param pool with at least two connections
 * @param node one of `cellNodes`
 * @throws Error of the database; Error that names a server that stopped answering
 */
export async function moveCell(pool: Pool, cell: string, node: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await moveOnce(pool, cell, node);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !LEFTOVER.test((error as Error).message)) throw error;
      await pause(TRY_AGAIN_MS);
    }
}

/** What Citus reports while its own cleaner still works on the remains of an interrupted move. */
const LEFTOVER = /leftover from the previous move could not be cleaned up/;
const MAX_ATTEMPTS = 12;
const TRY_AGAIN_MS = 5_000;

async function moveOnce(pool: Pool, cell: string, node: string): Promise<void> {
  const at = node.lastIndexOf(':');
  const mover = await pool.connect();
  const { rows } = await mover.query<{ pid: number }>('select pg_backend_pid() as pid');
  const ended = new AbortController();
  let failure: Error | undefined;
  const moving = mover.query('select citus_schema_move(quote_ident($1)::regnamespace, $2, $3::int)', [
    cell,
    node.slice(0, at),
    node.slice(at + 1),
  ]);
  const watching = firstSilentServer(pool, ended.signal).then(async (server) => {
    if (server === undefined) return;
    failure = new Error(`${server} does not answer any more`);
    await pool.query('select pg_cancel_backend($1)', [rows[0]?.pid]);
    await pause(CANCEL_WITHIN_MS, undefined, { signal: ended.signal });
    throw failure;
  });
  try {
    // A session that waits for a hanging server does not notice that it is to end.
    await Promise.race([moving, watching.then(() => moving)]);
  } catch (error) {
    failure ??= error as Error;
    throw failure;
  } finally {
    ended.abort();
    moving.catch(() => {});
    watching.catch(() => {});
    mover.release(failure);
  }
}

/** Milliseconds between two checks of the servers during a move, for a server to answer a check, and for a cancelled move to end. */
const WATCH_INTERVAL_MS = 2_000;
const ANSWERS_WITHIN_MS = 5_000;
const CANCEL_WITHIN_MS = 10_000;

/** Waits until a server has failed to answer two checks. @returns undefined once the signal has come, or if nobody can check */
async function firstSilentServer(pool: Pool, signal: AbortSignal): Promise<string | undefined> {
  let before: string[] = [];
  try {
    for (;;) {
      await pause(WATCH_INTERVAL_MS, undefined, { signal });
      const { rows } = await transaction(pool, async (tx) => {
        await tx.query(`set local citus.node_connection_timeout = ${ANSWERS_WITHIN_MS}`);
        return tx.query<{ node: string }>(
          `select nodename || ':' || nodeport as node from pg_dist_node
           where noderole = 'primary' and isactive and not citus_check_connection_to_node(nodename, nodeport)`,
        );
      });
      const silent = rows.map(({ node }) => node);
      const twice = silent.find((node) => before.includes(node));
      if (twice !== undefined) return twice;
      before = silent;
    }
  } catch {
    return undefined;
  }
}

/** A cell that goes to another server. */
export interface Move {
  cell: string;
  node: string;
}

/**
 * The moves that spread the distributed cells over the servers by size, as Citus plans them; empty if they are spread already. Citus could
 * also run the moves itself, but it needs background processes, which a server does not always have left.
 */
export async function plannedMoves(db: Db): Promise<Move[]> {
  const { rows } = await db.query<Move>(
    `select distinct n.nspname as cell, p.targetname || ':' || p.targetport as node
     from get_rebalance_table_shards_plan() p join pg_class c on c.oid = p.table_name join pg_namespace n on n.oid = c.relnamespace
     order by 1`,
  );
  return rows;
}

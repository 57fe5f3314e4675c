import pg from 'pg';
import { homeOfClient } from '../../src/database/cells/client-moves.ts';
import { poolOf } from '../../src/database/cells/pool.ts';
import type { Pool } from '../../src/database/database.ts';

/** The number of cells in the databases of a run, in addition to the first one (LOMBARD_TEST_CELLS). */
const CELLS = Number(process.env.LOMBARD_TEST_CELLS ?? 0);
/** Whether the databases of a run have several cells. */
export const SEVERAL_CELLS = CELLS > 0;

/** With several cells, a test sees all of them at once. */
export const LOOK = SEVERAL_CELLS ? { options: '-c search_path=public_cells,public' } : {};

/** Why a test is skipped if the cells are on workers of a Citus cluster. */
export const ON_WORKERS = 'workers of a Citus cluster have the cells';

/** Whether the cells of a database are on workers of a Citus cluster. */
export async function isOnWorkers(database: { query(text: string): Promise<pg.QueryResult> }): Promise<boolean> {
  if (!SEVERAL_CELLS) return false;
  const { rows } = await database.query(`select exists (select from pg_extension where extname = 'citus') as citus`);
  return rows[0].citus;
}

/** A condition for pg_locks: all databases of a run are on one server, and other tests wait for locks in theirs. */
export const OWN_LOCKS = 'database = (select oid from pg_database where datname = current_database())';

const WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** How many sessions of a database wait for a lock, including those of its cells on workers. */
export async function sessionsWaiting(database: { query(text: string): Promise<pg.QueryResult> }): Promise<number> {
  const workers = `+ (select sum(result::int) from run_command_on_workers($$${WAITING}$$))`;
  const { rows } = await database.query(`select (${WAITING}) ${(await isOnWorkers(database)) ? workers : ''} as n`);
  return Number(rows[0].n);
}

/** Why a test that forges or reads the data of one cell behind the service's back is skipped with several cells; false with one. */
export const ONE_CELL = SEVERAL_CELLS ? 'LOMBARD_TEST_CELLS: it forges what the tables of one cell have' : false;

/** Why a test whose schema is not `public`, where `LOOK` looks, is skipped with several cells; false with one. */
export const OWN_SCHEMA = SEVERAL_CELLS
  ? 'LOMBARD_TEST_CELLS: its database has one cell, in a schema of its own'
  : false;

/** A connection to the cell of a client; if there is only one cell, an ordinary connection. */
export async function connectTo({ databaseUrl }: { databaseUrl: string }, clientId: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query('select cell from clients where client_id = $1', [clientId]);
  if (rows[0].cell > 0) await client.query(`set search_path = public_cell_${rows[0].cell}, public`);
  return client;
}

/** The service's pool, for statements about one client. */
export async function poolOfClient(pool: Pool, clientId: string): Promise<Pool> {
  return poolOf(pool, (await homeOfClient(pool, clientId))?.cell ?? 0);
}

/**
 * PostgreSQL cannot change a view over all cells: object_not_in_prerequisite_state, wrong_object_type. Also undefined_object, when a
 * trigger is dropped that exists in each cell.
 */
const IS_VIEW = new Set(['55000', '42809', '42704']);
/** A cell refuses references to records of another cell: foreign_key_violation, or raise_exception of `refuse_other_cell`. */
const OTHER_CELL = new Set(['23503', 'P0001']);

/**
 * Runs a statement of a test. Changes to tables of cells are made in every cell. A row is inserted into the first cell that accepts it.
 */
export async function queryCells(pool: pg.Pool, text: string, values?: unknown[]): Promise<pg.QueryResult> {
  try {
    return await pool.query(text, values);
  } catch (error) {
    if (!SEVERAL_CELLS || !IS_VIEW.has(codeOf(error))) throw error;
  }
  const isInsert = /\binsert into\b/i.test(text);
  let result: pg.QueryResult | undefined;
  let refused: unknown;
  for (const cell of await cellsFor(pool, isInsert ? `${text} ${JSON.stringify(values)}` : '')) {
    try {
      const one = await inCell(pool, cell, (tx) => tx.query(text, values));
      if (isInsert && (one.rowCount ?? 0) > 0) return one;
      result = result ? merged(result, one) : one;
    } catch (error) {
      if (!isInsert || !OTHER_CELL.has(codeOf(error))) throw error;
      refused = error;
    }
  }
  if (!result) throw refused;
  return result;
}

/** The cells, the first one last. The cells of clients that an insert names come first, because a worker of Citus accepts rows of any client. */
async function cellsFor(pool: pg.Pool, insert: string): Promise<number[]> {
  const all = [...Array.from({ length: CELLS }, (_, index) => index + 1), 0];
  if (insert === '') return all;
  const { rows } = await pool.query('select distinct cell from clients where position(client_id in $1) > 0', [insert]);
  const named = rows.map(({ cell }) => cell as number);
  return [...named, ...all.filter((cell) => !named.includes(cell))];
}

function merged(result: pg.QueryResult, other: pg.QueryResult): pg.QueryResult {
  return { ...result, rowCount: (result.rowCount ?? 0) + (other.rowCount ?? 0), rows: [...result.rows, ...other.rows] };
}

async function inCell<T>(pool: pg.Pool, cell: number, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  const tx = await pool.connect();
  try {
    const path = `${cell === 0 ? '' : `public_cell_${cell}, `}public`;
    // Outside a cluster, the second setting has no effect.
    await tx.query(`begin; set local search_path = ${path}; set local citus.enable_unsafe_triggers = on`);
    const result = await work(tx);
    await tx.query('commit');
    return result;
  } catch (error) {
    await tx.query('rollback');
    throw error;
  } finally {
    tx.release();
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? '';
}

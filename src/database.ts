import pg from 'pg';
import type { Logger } from './log.ts';

/** Milliseconds: a request that waits for a connection, and one that waits for an answer, give up in time for a 502 within 3 s. */
const CONNECT_TIMEOUT = 1_800;
const QUERY_TIMEOUT = 2_500;
/**
 * Milliseconds for which a connection without work is kept: the first answers of a new one take tens of milliseconds, since the server knows
 * neither its tables nor its statements yet. And those after which it is probed, so that nothing between here and there forgets it.
 */
const KEPT_IDLE = 300_000;
const PROBED_AFTER = 30_000;

/** Either a pool or the one connection of a transaction. */
export interface Db {
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>>;
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<R>>;
  query<R extends unknown[]>(config: pg.QueryArrayConfig): Promise<pg.QueryArrayResult<R>>;
}

/** The connection of a transaction that is open. */
export type Transaction = pg.PoolClient;
export type Pool = pg.Pool;

/**
 * `setUp` of connections that answer requests. A prepared statement is planned once: left to itself, PostgreSQL plans that of a page of payments
 * anew at every call, as the first calls' values look a little cheaper, which takes longer (800 us) than running it.
 */
export const FORCE_GENERIC_PLAN = 'set plan_cache_mode = force_generic_plan';

const INT8 = 20;
const DATE = 1082;

/** `bigint` comes as a number (counts and ids stay below 2^53), `date` as its text, `numeric` as its text. */
const types = new pg.TypeOverrides();
types.setTypeParser(INT8, Number);
types.setTypeParser(DATE, (text) => text);

/**
 * Opens a pool. A connection that breaks while idle is dropped and logged; the next query opens another.
 * @param options `background`: no limit on the time of a query (background work, imports, migrations), or that of `answerWithin` (milliseconds);
 *   `longestLife`: seconds after which a connection is replaced; `setUp`: statements that each connection runs before its first query
 */
export function createPool(
  url: string,
  log: Logger,
  options: {
    max?: number;
    background?: boolean;
    answerWithin?: number;
    longestLife?: number;
    name?: string;
    setUp?: string;
  } = {},
): Pool {
  const { setUp = '', longestLife = 0, answerWithin = options.background ? undefined : QUERY_TIMEOUT } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 10,
    types,
    application_name: options.name ?? 'lombard',
    connectionTimeoutMillis: options.background ? 10_000 : CONNECT_TIMEOUT,
    ...(answerWithin === undefined ? {} : { query_timeout: answerWithin }),
    maxLifetimeSeconds: longestLife,
    idleTimeoutMillis: KEPT_IDLE,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBED_AFTER,
    allowExitOnIdle: false,
    ...(setUp === '' ? {} : { onConnect: async (client) => void (await client.query(setUp)) }),
  });
  pool.on('error', (error) => {
    // A pool that is closing does not wait for the server to see its goodbyes.
    if (!pool.ending) log.warn({ reason: error.message }, 'an idle database connection broke');
  });
  return pool;
}

/**
 * Runs a function in one transaction (READ COMMITTED): commits what it did, or nothing of it where it throws.
 * No network call belongs inside.
 * @param begin how it begins, as `begin read only`
 */
export async function transaction<T>(pool: Pool, work: (tx: Transaction) => Promise<T>, begin = 'begin'): Promise<T> {
  const tx = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  tx.on('error', onError);
  try {
    await tx.query(begin);
    const result = await work(tx);
    await tx.query('commit');
    return result;
  } catch (error) {
    // A server that did not answer in time will not answer a rollback either: the connection is given up, which rolls back.
    if ((error as Error).message === 'Query read timeout') broken ??= error as Error;
    if (!broken) {
      await tx.query('rollback').catch((failed: Error) => {
        broken = failed;
      });
    }
    throw error;
  } finally {
    tx.off('error', onError);
    tx.release(broken);
  }
}

/** The first row of an answer, or undefined. */
export function first<R extends pg.QueryResultRow>(result: pg.QueryResult<R>): R | undefined {
  return result.rows[0];
}

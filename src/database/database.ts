import pg from 'pg';
import type { Logger } from '../process/log.ts';
import { watchPool } from '../process/metrics.ts';
import type { CellPaths } from './cells/connection.ts';
import { CellPool } from './cells/pool.ts';
import { DatabaseClient } from './client.ts';
import { refusesWrites, silence } from './fault.ts';
import { forgetMark, requireStanding, UnknownOutcome } from './lost-commit.ts';
import { PatientPool } from './patient-pool.ts';
import { NamelessClient, PathClient } from './pooled-client.ts';
import { agreeing } from './two-phase-client.ts';

/** A request that waits for a connection, or for an answer on it, gives up in time for a 502 within 3 s. */
const CONNECT_TIMEOUT_MS = 1_800;
const QUERY_TIMEOUT_MS = 2_500;
const BACKGROUND_CONNECT_TIMEOUT_MS = 10_000;
/**
 * An idle connection stays open for five minutes. The first answers on a new one take tens of milliseconds, because the server has to
 * load its catalogue entries and prepare its statements.
 */
const MAX_IDLE_MS = 300_000;
/** TCP probes an idle connection, so that no firewall or proxy on the way drops it. */
const PROBE_AFTER_MS = 30_000;
const DEFAULT_CONNECTIONS = 10;

/** A pool, or the connection of a transaction. */
export interface Db {
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>>;
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<R>>;
  query<R extends unknown[]>(config: pg.QueryArrayConfig): Promise<pg.QueryArrayResult<R>>;
}

/** The connection of an open transaction. */
export type Transaction = pg.PoolClient;
export type Pool = pg.Pool;

const INT8 = 20;
const DATE = 1082;

/** `bigint` arrives as a number (counts and ids stay below 2^53); `date` and `numeric` arrive as text. */
const types = new pg.TypeOverrides();
types.setTypeParser(INT8, Number);
types.setTypeParser(DATE, (text) => text);

/**
 * Opens a pool. A connection that breaks while idle is dropped and logged; the next query opens another.
 * @param options `background`: queries may take any time, or `answerWithin` milliseconds (background work, imports, migrations);
 *   `longestLife`: a connection is replaced after so many seconds; `setUp`: statements that each connection runs before its first query;
 *   `names`: false leaves statements unprepared, for a pooler in transaction mode; `cells`: of a database with several
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
    names?: boolean;
    cells?: CellPaths | undefined;
  } = {},
): Pool {
  const { longestLife = 0, answerWithin = options.background ? undefined : QUERY_TIMEOUT_MS } = options;
  const setUp = setUpOf(options);
  const config: pg.PoolConfig = {
    connectionString: url,
    Client: clientFor(options),
    max: options.max ?? DEFAULT_CONNECTIONS,
    types,
    application_name: options.name ?? 'lombard',
    connectionTimeoutMillis: options.background ? BACKGROUND_CONNECT_TIMEOUT_MS : CONNECT_TIMEOUT_MS,
    ...(answerWithin === undefined ? {} : { query_timeout: answerWithin }),
    maxLifetimeSeconds: longestLife,
    idleTimeoutMillis: MAX_IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    allowExitOnIdle: false,
    ...(setUp === '' ? {} : { onConnect: async (client) => void (await client.query(setUp)) }),
  };
  const { names = true, cells } = options;
  const pool = cells ? new CellPool(config, cells, { ownSessions: names }) : new PatientPool(config);
  pool.on('connect', (client) => POOLS.set(client, pool));
  watchPool(options.name ?? 'lombard', pool);
  pool.on('error', (error) => {
    // A closing pool does not wait until the server has closed its side.
    if (!pool.ending) log.warn({ reason: error.message }, 'an idle database connection broke');
  });
  return pool;
}

function clientFor({ names = true, cells }: { names?: boolean; cells?: CellPaths | undefined }): typeof DatabaseClient {
  const Client = names ? DatabaseClient : cells ? PathClient : NamelessClient;
  return cells?.distributed ? agreeing(Client) : Client;
}

/** What the sessions of a database with several cells need beside what the caller has them set. */
function setUpOf({ setUp = '', names = true, cells }: SetUp): string {
  // A pooler keeps its own sessions, and sees to it.
  if (!cells || !names) return setUp;
  // Who waited for a silent cell and has gone leaves no statement behind, with its locks.
  return [...(setUp === '' ? [] : [setUp]), "set client_connection_check_interval = '1s'"].join('; ');
}

interface SetUp {
  setUp?: string;
  names?: boolean;
  cells?: CellPaths | undefined;
}

/** What happens around the transactions of a pool. */
export interface TransactionHooks {
  /** What a transaction has changed is about to be read. */
  beforeReading(tx: Transaction): Promise<void>;
  /** A step of a transaction has ended, and another one follows. */
  stepEnded(tx: Transaction): Promise<void>;
  /** Runs the last statements of a transaction before it commits. @returns the very last one, if any, which is still to be run */
  beforeCommit(tx: Transaction): Promise<pg.QueryConfig | undefined>;
  /** A transaction has ended, either way. */
  ended(tx: Transaction): void;
}

/** Whose a connection is. */
const POOLS = new WeakMap<Transaction, Pool>();
const HOOKS = new WeakMap<Transaction, TransactionHooks>();

/** Sets the hooks of a pool that has no connection yet. */
export function hookTransactions(pool: Pool, hooks: TransactionHooks): void {
  pool.on('connect', (tx) => HOOKS.set(tx, hooks));
}

/**
 * Commits the transaction of a connection, after the hooks of its pool. Where the answer is lost, it looks whether the transaction stands.
 * @returns the error of a connection that was lost with the answer: it must be released with it
 * @throws what the database says; UnknownOutcome
 */
export async function commit(tx: Transaction): Promise<Error | undefined> {
  const last = await HOOKS.get(tx)?.beforeCommit(tx);
  let lost: Error | undefined;
  try {
    // A pool with hooks has been made by `createPool`.
    if (last) await (tx as unknown as DatabaseClient).commitAfter(last);
    else await tx.query('commit');
  } catch (error) {
    await requireStanding(tx, POOLS.get(tx), error);
    lost = error as Error;
  }
  forgetMark(tx);
  HOOKS.get(tx)?.ended(tx);
  return lost;
}

/**
 * Locks what a transaction has changed, as its commit does. Who then reads a changed record reads what the change feed will show of it
 * (`noteRecord` of change.ts).
 */
export async function lockChanges(tx: Transaction): Promise<void> {
  await HOOKS.get(tx)?.beforeReading(tx);
}

/**
 * Ends a step within a transaction. Who moves one payment several times in one transaction calls it between the moves, so that the change
 * feed shows each of them; without it the feed shows what the transaction has made of each record.
 */
export async function endStep(tx: Transaction): Promise<void> {
  await HOOKS.get(tx)?.stepEnded(tx);
}

/** Rolls the transaction of a connection back. */
export async function rollback(tx: Transaction): Promise<void> {
  forgetMark(tx);
  HOOKS.get(tx)?.ended(tx);
  await tx.query('rollback');
}

/**
 * Runs a function in one transaction (READ COMMITTED). Commits if it returns and rolls back if it throws.
 * Never call another server inside.
 * @param begin the statement that begins it, as `begin read only`
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
    broken ??= await commit(tx);
    return result;
  } catch (failure) {
    const error = failure instanceof UnknownOutcome ? failure.cause : failure;
    // A server that did not answer in time will not answer a rollback either. Closing the connection rolls back.
    if (silence(error) || refusesWrites(error)) broken ??= error as Error;
    if (!broken) {
      await rollback(tx).catch((failed: Error) => {
        broken = failed;
      });
    }
    throw failure;
  } finally {
    tx.off('error', onError);
    tx.release(broken);
  }
}

/** The first row of a result, or undefined. */
export function first<R extends pg.QueryResultRow>(result: pg.QueryResult<R>): R | undefined {
  return result.rows[0];
}

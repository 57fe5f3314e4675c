import type pg from 'pg';
import { errorOf } from '../values/unknown.ts';
import { refusesWrites, silence } from './fault.ts';
import { forgetMark, requireStanding, UnknownOutcome } from './lost-commit.ts';

/** A pool, or the connection of a transaction. */
export interface Db {
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>>;
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<R>>;
  query<R extends unknown[]>(config: pg.QueryArrayConfig): Promise<pg.QueryArrayResult<R>>;
}

/** The connection of an open transaction. */
export type Transaction = pg.PoolClient;
export type Pool = pg.Pool;

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

/** What the pool of a connection says of it. */
interface Origin {
  pool: Pool;
  /** Runs the last statement of a transaction and commits it. */
  commitAfter(statement: pg.QueryConfig): Promise<void>;
  /** A connection beside the pool, which is not open yet. */
  another(name: string): pg.Client;
}

const ORIGINS = new WeakMap<Transaction, Origin>();
const HOOKS = new WeakMap<Pool, TransactionHooks>();

/** Makes known where a new connection comes from. */
export function comesFrom(tx: Transaction, origin: Origin): void {
  ORIGINS.set(tx, origin);
}

/** Sets the hooks of a pool that `createPool` has made. */
export function hookTransactions(pool: Pool, hooks: TransactionHooks): void {
  HOOKS.set(pool, hooks);
}

function hooksOf(tx: Transaction): TransactionHooks | undefined {
  const pool = ORIGINS.get(tx)?.pool;
  return pool && HOOKS.get(pool);
}

/**
 * Commits the transaction of a connection, after the hooks of its pool. Where the answer is lost, it looks whether the transaction stands.
 * @returns the error of a connection that was lost with the answer: it must be released with it
 * @throws what the database says; UnknownOutcome
 */
export async function commit(tx: Transaction): Promise<Error | undefined> {
  const origin = ORIGINS.get(tx);
  const hooks = hooksOf(tx);
  const last = await hooks?.beforeCommit(tx);
  let lost: Error | undefined;
  try {
    if (origin && last) await origin.commitAfter(last);
    else await tx.query('commit');
  } catch (error) {
    await requireStanding(tx, error, origin?.another);
    lost = errorOf(error);
  }
  forgetMark(tx);
  hooks?.ended(tx);
  return lost;
}

/**
 * Locks what a transaction has changed, as its commit does. Who then reads a changed record reads what the change feed will show of it
 * (`noteRecord` of change.ts).
 */
export async function lockChanges(tx: Transaction): Promise<void> {
  await hooksOf(tx)?.beforeReading(tx);
}

/**
 * Ends a step within a transaction. Who moves one payment several times in one transaction calls it between the moves, so that the change
 * feed shows each of them; without it the feed shows what the transaction has made of each record.
 */
export async function endStep(tx: Transaction): Promise<void> {
  await hooksOf(tx)?.stepEnded(tx);
}

/** Rolls the transaction of a connection back. */
export async function rollback(tx: Transaction): Promise<void> {
  forgetMark(tx);
  hooksOf(tx)?.ended(tx);
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
    if (silence(error) || refusesWrites(error)) broken ??= errorOf(error);
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

/** The connection string of a pool. */
export function urlOf({ options: { connectionString } }: Pool): string {
  if (connectionString === undefined) throw new TypeError('the pool has no connection string');
  return connectionString;
}

/** The row of a statement that always gives one. */
export function one<R extends pg.QueryResultRow>({ rows: [row] }: pg.QueryResult<R>): R {
  if (row === undefined) throw new TypeError('the statement gave no row');
  return row;
}

/** The first row of a result, or undefined. */
export function first<R extends pg.QueryResultRow>(result: pg.QueryResult<R>): R | undefined {
  return result.rows[0];
}

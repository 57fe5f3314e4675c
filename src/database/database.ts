import type pg from 'pg';
import { codeOf, errorOf } from '../values/unknown.ts';
import type { Pipelined } from './client.ts';
import { refusesWrites, silence } from './fault.ts';
import { forgetMark, requireStanding, UnknownOutcome } from './lost-commit.ts';

/** A pool, or the connection of a transaction. */
export interface Db {
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>>;
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<R>>;
  query<R extends unknown[]>(config: pg.QueryArrayConfig): Promise<pg.QueryArrayResult<R>>;
}

/** The connection of an open transaction. */
export type Transaction = pg.PoolClient & Pipelined;
export type Pool = pg.Pool;

/** What a transaction does about a record that another one has locked: it waits, or leaves out what needs the record. */
export type WhenLocked = 'wait' | 'leave out';

/**
 * The kinds of work that a transaction leaves for after its commit: events in the outbox, due notifications in the queue, changes for the
 * feed, statements to be delivered, audit rows to be sealed, and files of orders to be judged or made.
 */
export const WORK = ['events', 'queue', 'changes', 'statements', 'audit', 'orders'] as const;
export type Work = (typeof WORK)[number];

/** Hooks around the transactions of a pool. */
export interface TransactionHooks {
  /** Called before what a transaction has changed is read. */
  beforeReading(tx: Transaction): void;
  /** Called when a step of a transaction has ended and another one follows. */
  stepEnded(tx: Transaction): Promise<void>;
  /** Runs the last statements of a transaction before it commits. @returns the very last statement, if any, which the caller runs */
  beforeCommit(tx: Transaction): Promise<pg.QueryConfig | undefined>;
  /** Called when a transaction has ended. @param left the work that it leaves; undefined if it was rolled back */
  ended(tx: Transaction, left: ReadonlySet<Work> | undefined): void;
}

/** What the pool of a connection says about it. */
interface Origin {
  pool: Pool;
  /** Makes a connection outside the pool, which is not open yet. */
  another(name: string): pg.Client;
}

const ORIGINS = new WeakMap<Transaction, Origin>();
const HOOKS = new WeakMap<Pool, TransactionHooks>();
const LEFT = new WeakMap<Transaction, Set<Work>>();
const NOTHING: ReadonlySet<Work> = new Set();

/** Records that a transaction leaves work. After the commit, the workers that do such work are woken. */
export function leaveWork(tx: Transaction, work: Work): void {
  const left = LEFT.get(tx);
  if (left) left.add(work);
  else LEFT.set(tx, new Set([work]));
}

/** Takes the work that a transaction leaves when it ends. */
function takeWork(tx: Transaction): ReadonlySet<Work> {
  const left = LEFT.get(tx) ?? NOTHING;
  LEFT.delete(tx);
  return left;
}

/** Records where a new connection comes from. */
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
 * Commits the transaction of a connection, after the hooks of its pool. If the answer is lost, it checks whether the transaction was
 * committed.
 * @returns the error of a connection that was lost with the answer; the connection must be released with it
 * @throws the error of the database; UnknownOutcome
 */
async function commit(tx: Transaction): Promise<Error | undefined> {
  const hooks = hooksOf(tx);
  // The transaction's mark must be known: it tells what became of a commit whose answer is lost.
  const [last] = await together([hooks?.beforeCommit(tx), tx.caughtUp()]);
  let lost: Error | undefined;
  try {
    if (last) await tx.commitAfter(last);
    else if ((await tx.query('commit')).command === 'ROLLBACK') {
      await tx.settled();
      throw new Error('a statement of the transaction has failed, and nobody was told');
    }
  } catch (error) {
    await requireStanding(tx, error, ORIGINS.get(tx)?.another);
    lost = errorOf(error);
  }
  forgetMark(tx);
  hooks?.ended(tx, takeWork(tx));
  return lost;
}

/**
 * Locks what a transaction has changed, as its commit does. A record that is read afterwards looks as the change feed will show it
 * (`noteRecord` of change.ts).
 */
export function lockChanges(tx: Transaction): void {
  hooksOf(tx)?.beforeReading(tx);
}

/**
 * Ends a step within a transaction. Without it, the feed shows only the final state of each record. A caller that moves one payment several
 * times in one transaction calls it between the moves, so that the feed shows each.
 */
export async function endStep(tx: Transaction): Promise<void> {
  await hooksOf(tx)?.stepEnded(tx);
}

/** Rolls the transaction of a connection back. */
async function rollback(tx: Transaction): Promise<void> {
  // Work that still runs alongside could write after the end, or leave its mark for the next transaction.
  await tx.settled().catch(() => {});
  forgetMark(tx);
  takeWork(tx);
  hooksOf(tx)?.ended(tx, undefined);
  await tx.query('rollback');
}

/** Takes a connection for a transaction that the caller begins and ends. */
export async function connect(pool: Pool): Promise<Transaction> {
  const client = await pool.connect();
  if (isPipelined(client)) return client;
  throw new TypeError('the pool was not made by createPool');
}

function isPipelined(client: pg.PoolClient): client is Transaction {
  return 'later' in client;
}

/** SQLSTATE of a statement that follows a failed one in its transaction (in_failed_sql_transaction). */
const AFTER_FAILURE = '25P02';

/** Why a transaction has failed. The error of the awaited statement may only say that an earlier one failed. */
async function causeOf(tx: Transaction, failure: unknown): Promise<unknown> {
  if (codeOf(failure) !== AFTER_FAILURE) return failure;
  return tx.settled().then(
    () => failure,
    (cause: unknown) => cause,
  );
}

/**
 * Runs a part of a transaction. If it fails, only this part is undone.
 * @throws what made it fail
 */
export async function savepoint<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  tx.later('savepoint part');
  try {
    const result = await work();
    await tx.settled();
    tx.later('release savepoint part');
    return result;
  } catch (failure) {
    const error = await causeOf(tx, failure);
    // Work that still runs alongside belongs to this part.
    await tx.settled().catch(() => {});
    if (!silence(error)) await tx.query('rollback to savepoint part; release savepoint part').catch(() => {});
    throw error;
  }
}

/**
 * Runs a function in one transaction (READ COMMITTED). Commits if it returns and rolls back if it throws. Never call another server inside.
 * @param begin the statement that begins it, such as `begin read only`
 */
export async function transaction<T>(pool: Pool, work: (tx: Transaction) => Promise<T>, begin = 'begin'): Promise<T> {
  const tx = await connect(pool);
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  const requireConnection = () => {
    if (broken) throw broken;
  };
  tx.on('error', onError);
  try {
    tx.later(begin);
    const result = await work(tx);
    // If the connection was lost, the server has undone everything. A commit that is not sent would not report this.
    requireConnection();
    const lost = await commit(tx);
    broken ??= lost;
    return result;
  } catch (failed) {
    const failure = await causeOf(tx, failed);
    const error = failure instanceof UnknownOutcome ? failure.cause : failure;
    // A server that did not answer in time will not answer a rollback either. Closing the connection rolls back.
    if (silence(error) || refusesWrites(error)) broken ??= errorOf(error);
    if (!broken) {
      await rollback(tx).catch((lost: Error) => {
        broken = lost;
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

/** The row of a statement that always returns one. */
export function one<R extends pg.QueryResultRow>({ rows: [row] }: pg.QueryResult<R>): R {
  if (row === undefined) throw new TypeError('the statement gave no row');
  return row;
}

/** Like `transaction`, on a connection that the caller keeps. */
export async function transactionOn<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  tx.later('begin');
  try {
    const result = await work();
    await commit(tx);
    return result;
  } catch (failure) {
    const error = await causeOf(tx, failure);
    await rollback(tx).catch(() => {});
    throw error;
  }
}

/** Waits for promises that were started together. @throws the error of the first in the list that failed */
export async function together<T extends readonly unknown[]>(
  parts: readonly [...T],
): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
  await Promise.allSettled(parts);
  return Promise.all(parts);
}

/** The first row of a result, or undefined. */
export function first<R extends pg.QueryResultRow>(result: pg.QueryResult<R>): R | undefined {
  return result.rows[0];
}

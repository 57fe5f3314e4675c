import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { endsWithin } from '../process/deadline.ts';
import { monotonic } from '../values/calendar.ts';
import { localPathOf } from './cells/connection.ts';
import { databaseFault, refusedByServer, silence } from './fault.ts';

/**
 * Milliseconds during which the outcome of a commit whose answer was lost is asked for. The caller of a silent database has waited already,
 * and must have an answer within 3 seconds (docs/decisions.md, 1).
 */
const LOST_MS = 2_000;
const SILENT_MS = 400;
/** Milliseconds between two attempts to ask. */
const RETRY_AFTER_MS = 50;

/**
 * A statement whose result shows whether a transaction was committed. It returns a row with `stands`. It waits while the transaction is
 * still open, because it locks what the transaction has written, or because `waits` does so first.
 */
export interface Mark extends Question {
  /** A statement that tries to write what the transaction has written, so that it waits. Its own writes are rolled back. */
  waits?: Question;
}

interface Question {
  text: string;
  values: unknown[];
}

/** A mark, with the statement that leads to the transaction's cell. The path is empty if the session already has it. */
type Kept = Mark & { path: string };

/** Makes a connection with the given name. */
type Another = (name: string) => pg.Client;

const MARKS = new WeakMap<object, Kept>();

/** Sets the mark of a transaction. The last mark counts, because an earlier one may be in a savepoint that was rolled back. */
export function leaveMark(tx: object, mark: Mark): void {
  MARKS.set(tx, { ...mark, path: localPathOf(tx) });
}

/** Forgets the mark of a transaction that has ended. */
export function forgetMark(tx: object): void {
  MARKS.delete(tx);
}

/** The answer to a commit was lost, and the database cannot say now whether the transaction was committed. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super('the answer to a commit was lost, and the database does not say whether it stands', { cause });
    this.name = 'UnknownOutcome';
  }
}

/**
 * Checks that a transaction was committed although its commit reported an error. It asks on a new connection, because the transaction's
 * connection is lost, and the others of its pool may be too.
 * @param error of the commit
 * @param another makes a connection to the same database, not open yet
 * @throws the error itself if the server refused the commit or did not make it; UnknownOutcome
 */
export async function requireStanding(tx: object, error: unknown, another: Another | undefined): Promise<void> {
  const mark = MARKS.get(tx);
  if (!mark || !another || refusedByServer(error) || !databaseFault(error)) throw error;
  const until = monotonic() + (silence(error) ? SILENT_MS : LOST_MS);
  const stands = await ask(another, mark, until);
  if (stands === undefined) throw new UnknownOutcome(error);
  if (!stands) throw error;
}

/**
 * @param until monotonic milliseconds
 * @returns undefined if nobody answers
 */
async function ask(another: Another, mark: Kept, until: number): Promise<boolean | undefined> {
  for (;;) {
    const asked = askOnce(another, mark, until).catch((failure: unknown) => {
      if (!databaseFault(failure)) throw failure;
      return undefined;
    });
    let stands: boolean | undefined;
    const answered = await endsWithin(
      asked.then((answer) => {
        stands = answer;
      }),
      Math.max(1, until - monotonic()),
    );
    if (stands !== undefined) return stands;
    if (!answered || monotonic() + RETRY_AFTER_MS > until) return undefined;
    await pause(RETRY_AFTER_MS);
  }
}

async function askOnce(another: Another, { text, values, waits, path }: Kept, until: number): Promise<boolean> {
  const client = another('lombard-lost-commit');
  try {
    await client.connect();
    await client.query('begin');
    // The server must stop waiting even if nobody listens any more.
    await client.query(`set local statement_timeout = ${Math.max(1, Math.round(until - monotonic()))}`);
    if (path !== '') await client.query(path);
    if (waits) await client.query(waits.text, waits.values);
    const { rows } = await client.query<{ stands: boolean }>(text, values);
    await client.query('rollback');
    return rows[0]?.stands ?? false;
  } finally {
    client.end().catch(() => {});
  }
}

import { createHash } from 'node:crypto';
import { audit } from '../audit.ts';
import type { Transaction } from '../database.ts';
import { MESSAGES, Problem } from '../errors.ts';
import { type ImportKind, type ImportScope, type Numbered, Refusals } from './kind.ts';
import { parseLine, readLines } from './lines.ts';

/** Refused lines that an answer lists. */
export const MAX_ERRORS = 1_000;
/** Bytes of lines in one batch: what a batch of longest lines may take. */
const BATCH_BYTES = 4_194_304;
/** Times that a batch is tried which the database ended for the sake of another transaction (deadlock). */
const ATTEMPTS = 4;

export interface LineError {
  line: number;
  code: string;
  message: string;
  details: string;
}

export interface ImportAnswer {
  accepted: number;
  rejected: number;
  errors: LineError[];
}

export interface ImportRequest<Given, Row> {
  kind: ImportKind<Given, Row>;
  scope: ImportScope;
  /** Ends at the first line that is refused: what stands before it is in, nothing after it. */
  stop: boolean;
  /** Checks the shape of a record, as the single call does. @throws Problem */
  checkShape(record: unknown): void;
  /** What stands before the name of a field in a refusal: `body`, as in the single call's. */
  place: string;
  /** What a caller is told of an error of the database; `integration_error` ends the import. */
  toProblem(error: unknown): Problem;
}

interface Batch<Row> {
  first: number;
  last: number;
  rows: Numbered<Row>[];
  refusals: Refusals;
  sha256: string;
}

/**
 * Imports a stream of lines, a JSON record each. A batch of lines is one transaction; a line that cannot go in is reported, and
 * the rest of its batch goes in. While one batch is written the next is read, and no more: memory does not grow with the file.
 * @param connection used for one batch after the other
 * @param source bytes; it is read only as fast as batches are written
 * @throws Problem integration_error where the database fails; its details say how far the import came
 */
export async function importLines<Given, Row>(
  connection: Transaction,
  source: AsyncIterable<Buffer>,
  request: ImportRequest<Given, Row>,
): Promise<ImportAnswer> {
  const answer: ImportAnswer = { accepted: 0, rejected: 0, errors: [] };
  const written = { until: 0, stopped: false };
  const write = async (batch: Batch<Row>) => {
    await writeBatch(connection, batch, request, answer, written);
    written.until = batch.last;
  };
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const batch of readBatches(source, request)) {
      await writing;
      if (written.stopped) break;
      writing = write(batch);
      // Its failure is met at the next await; until then it must not count as unhandled.
      writing.catch(() => {});
    }
    await writing;
  } catch (error) {
    await writing.catch(() => {});
    const problem = request.toProblem(error);
    const reached =
      written.until === 0
        ? 'no line is in'
        : `the lines up to ${written.until} were dealt with: ${answer.accepted} accepted, ${answer.rejected} rejected`;
    throw new Problem(problem.code, `${problem.details}; ${reached}`, { cause: error });
  }
  return answer;
}

/** Reads lines into batches, each checked for its shape. */
async function* readBatches<Given, Row>(
  source: AsyncIterable<Buffer>,
  request: ImportRequest<Given, Row>,
): AsyncGenerator<Batch<Row>> {
  const { kind, scope, stop } = request;
  let rows: Numbered<Row>[] = [];
  let refusals = new Refusals();
  let hash = createHash('sha256');
  let first = 1;
  let bytes = 0;
  const take = (last: number): Batch<Row> => {
    const batch = { first, last, rows, refusals, sha256: hash.digest('hex') };
    rows = [];
    refusals = new Refusals();
    hash = createHash('sha256');
    first = last + 1;
    bytes = 0;
    return batch;
  };
  let number = 0;
  for await (const lines of readLines(source)) {
    for (const line of lines) {
      number = line.number;
      if (line.bytes) hash.update(line.bytes).update('\n');
      bytes += line.bytes?.length ?? 0;
      try {
        const record = parseLine(line);
        if (record === undefined) continue;
        request.checkShape(record);
        rows.push({ line: number, row: kind.read(record as Given, scope) });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refusals.set(number, error);
        if (stop) {
          yield take(number);
          return;
        }
      }
      if (rows.length + refusals.size >= kind.batchLines || bytes >= BATCH_BYTES) yield take(number);
    }
  }
  if (rows.length + refusals.size > 0) yield take(number);
}

async function writeBatch<Given, Row>(
  connection: Transaction,
  batch: Batch<Row>,
  request: ImportRequest<Given, Row>,
  answer: ImportAnswer,
  written: { stopped: boolean },
): Promise<void> {
  const { refusals } = batch;
  const prepared = await request.kind.prepare?.(batch.rows, request.scope);
  for (const [line, problem] of prepared ?? []) refusals.set(line, problem);
  await insertRows(
    connection,
    batch,
    batch.rows.filter(({ line }) => !refusals.has(line)),
    request,
    answer,
  );
  let reported = [...refusals].sort(([a], [b]) => a - b);
  if (request.stop && reported.length > 0) {
    reported = reported.slice(0, 1);
    written.stopped = true;
  }
  answer.rejected += reported.length;
  for (const [line, refusal] of reported.slice(0, MAX_ERRORS - answer.errors.length)) {
    const { code, details } = refusal.within(request.place);
    answer.errors.push({ line, code, message: MESSAGES[code], details });
  }
}

/**
 * Writes rows in one transaction. What `check` could not foresee (another caller took an identifier meanwhile, a value that the
 * database refuses) fails the whole: then each half is tried alone, down to the line that is at fault.
 */
async function insertRows<Given, Row>(
  connection: Transaction,
  batch: Batch<Row>,
  rows: Numbered<Row>[],
  request: ImportRequest<Given, Row>,
  answer: ImportAnswer,
  attempt = 1,
): Promise<void> {
  const { refusals } = batch;
  const before = new Map(refusals);
  const open = request.stop ? rows.filter(({ line }) => line < firstOf(refusals)) : rows;
  if (open.length === 0) return;
  try {
    answer.accepted += await inTransaction(connection, () => insertChecked(connection, batch, open, request));
  } catch (error) {
    refusals.clear();
    for (const [line, problem] of before) refusals.set(line, problem);
    if (isContention(error) && attempt < ATTEMPTS)
      return insertRows(connection, batch, open, request, answer, attempt + 1);
    const problem = request.toProblem(error);
    if (problem.code === 'integration_error') throw error;
    if (open.length === 1) {
      refusals.set(open[0]?.line ?? 0, problem);
      return;
    }
    const half = open.length >> 1;
    await insertRows(connection, batch, open.slice(0, half), request, answer);
    await insertRows(connection, batch, open.slice(half), request, answer);
  }
}

async function insertChecked<Given, Row>(
  tx: Transaction,
  batch: Batch<Row>,
  rows: Numbered<Row>[],
  request: ImportRequest<Given, Row>,
): Promise<number> {
  const { kind, scope, stop } = request;
  const { refusals } = batch;
  for (const [line, problem] of await kind.check(tx, rows, scope)) refusals.set(line, problem);
  const end = stop ? firstOf(refusals) : Number.POSITIVE_INFINITY;
  const good = rows.filter(({ line }) => line < end && !refusals.has(line));
  if (good.length === 0) return 0;
  await kind.insert(tx, good, scope);
  // One row for the batch, not one for each record: they would double the writes. The hash says which lines they were.
  await audit(tx, scope.act, {
    action: 'import',
    entity: kind.entity,
    entityId: scope.act.requestId,
    after: { first_line: batch.first, last_line: batch.last, accepted: good.length, sha256: batch.sha256 },
  });
  return good.length;
}

function firstOf(refusals: Refusals): number {
  let least = Number.POSITIVE_INFINITY;
  for (const line of refusals.keys()) if (line < least) least = line;
  return least;
}

async function inTransaction<T>(connection: Transaction, work: () => Promise<T>): Promise<T> {
  await connection.query('begin');
  try {
    const result = await work();
    await connection.query('commit');
    return result;
  } catch (error) {
    await connection.query('rollback').catch(() => {});
    throw error;
  }
}

function isContention(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === '40P01' || code === '40001';
}

import { audit } from '../audit.ts';
import { commit, rollback, type Transaction } from '../database.ts';
import type { ErrorCode } from '../errors.ts';
import { type ImportAnswer, reportRefusals } from './answer.ts';
import type { Batch } from './batch.ts';
import { noteImported } from './imported.ts';
import type { ImportRow } from './kind.ts';
import type { ImportRequest } from './request.ts';

/** Times that a batch is tried when the database ends its transaction in favour of another one (deadlock). */
const MAX_ATTEMPTS = 4;
/** SQLSTATE of a deadlock and of a serialization failure (PostgreSQL, appendix A). */
const CONTENTION = new Set(['40P01', '40001']);

/** What no smaller batch would change: the database fails, or the caller may no longer import. */
const ENDS_IMPORT = new Set<ErrorCode>(['integration_error', 'authentication_failed', 'token_expired']);

/** Writes one batch after the other on one connection, and keeps the answer. */
export class BatchWriter<Input, Row extends ImportRow<Input>> {
  readonly answer: ImportAnswer = { accepted: 0, rejected: 0, errors: [] };
  readonly #connection: Transaction;
  readonly #request: ImportRequest<Input, Row>;
  #lastLine = 0;
  #stopped = false;

  constructor(connection: Transaction, request: ImportRequest<Input, Row>) {
    this.#connection = connection;
    this.#request = request;
  }

  /** The last line of the batches that have been written; 0 before the first one. */
  get lastLine(): number {
    return this.#lastLine;
  }

  /** Whether a refused line has ended the import. */
  get stopped(): boolean {
    return this.#stopped;
  }

  async write(batch: Batch<Row>): Promise<void> {
    const { kind, stop, place } = this.#request;
    const { refusals } = batch;
    for (const [line, problem] of (await kind.prepare?.(batch.rows)) ?? []) refusals.set(line, problem);
    await this.#insert(
      batch,
      batch.rows.filter(({ line }) => !refusals.has(line)),
    );
    let refused = [...refusals].sort(([a], [b]) => a - b);
    if (stop && refused.length > 0) {
      refused = refused.slice(0, 1);
      this.#stopped = true;
    }
    reportRefusals(this.answer, refused, place);
    this.#lastLine = batch.lastLine;
  }

  /**
   * Writes rows in one transaction. Some failures cannot be foreseen by `check`: another caller took an identifier meanwhile, or the
   * database refuses a value. Then the whole fails, and each half is tried alone, down to the line that is at fault.
   */
  async #insert(batch: Batch<Row>, rows: Row[], attempt = 1): Promise<void> {
    const { refusals } = batch;
    const before = new Map(refusals);
    const open = this.#request.stop ? rows.filter(({ line }) => line < refusals.first) : rows;
    if (open.length === 0) return;
    try {
      this.answer.accepted += await this.#transaction(() => this.#insertChecked(batch, open));
    } catch (error) {
      refusals.clear();
      for (const [line, problem] of before) refusals.set(line, problem);
      if (CONTENTION.has((error as { code?: string }).code ?? '') && attempt < MAX_ATTEMPTS)
        return this.#insert(batch, open, attempt + 1);
      const problem = this.#request.toProblem(error);
      if (ENDS_IMPORT.has(problem.code)) throw error;
      if (open.length === 1) {
        refusals.set(open[0]?.line ?? 0, problem);
        return;
      }
      const half = open.length >> 1;
      await this.#insert(batch, open.slice(0, half));
      await this.#insert(batch, open.slice(half));
    }
  }

  /** @returns how many rows were written */
  async #insertChecked(batch: Batch<Row>, rows: Row[]): Promise<number> {
    const { kind, scope, stop } = this.#request;
    const { refusals } = batch;
    for (const [line, problem] of await kind.check(this.#connection, rows, scope)) refusals.set(line, problem);
    const end = stop ? refusals.first : Number.POSITIVE_INFINITY;
    const accepted = rows.filter(({ line }) => line < end && !refusals.has(line));
    if (accepted.length === 0) return 0;
    noteImported(this.#connection, scope.act, kind.entity, accepted);
    await kind.insert(this.#connection, accepted, scope);
    // One row for each batch: one for each record would double the writes. The hash says which lines they were.
    await audit(this.#connection, scope.act, {
      action: 'import',
      entity: kind.entity,
      entityId: scope.act.requestId,
      after: {
        first_line: batch.firstLine,
        last_line: batch.lastLine,
        accepted: accepted.length,
        sha256: batch.sha256,
      },
    });
    return accepted.length;
  }

  async #transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.#connection.query('begin');
    try {
      await this.#request.confirm?.(this.#connection);
      const result = await work();
      await commit(this.#connection);
      return result;
    } catch (error) {
      await rollback(this.#connection).catch(() => {});
      throw error;
    }
  }
}

import { attempt } from '../audit/attempt.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { afterMoves } from '../database/cells/client-moves.ts';
import { type Transaction, transactionOn } from '../database/database.ts';
import type { ErrorCode } from '../values/errors.ts';
import { codeOf, present } from '../values/unknown.ts';
import type { Batch } from './batch.ts';
import { inCellsOfRows } from './cells.ts';
import { claimLines } from './claims.ts';
import { settleConflicts, withoutRepetitions } from './conflicts.ts';
import { answerOf, type ImportAnswer, listedErrors, type Progress, saveProgress } from './import.ts';
import { type ImportKind, type ImportRow, type ImportScope, Refusals } from './kind.ts';
import type { ImportRequest } from './request.ts';

/** The number of times that a batch is tried if the database ends its transaction in favour of another one (deadlock). */
const MAX_ATTEMPTS = 4;
/** SQLSTATE of a deadlock and of a serialization failure (PostgreSQL, appendix A). */
const CONTENTION = new Set(['40P01', '40001']);

/** Milliseconds for which an import waits until a client has been moved to another cell. */
const MAX_MOVE_MS = 60_000;

/** Errors that a smaller batch would meet too: the database fails, or the caller may no longer import. */
const ENDS_IMPORT = new Set<ErrorCode>(['integration_error', 'interrupted', 'authentication_failed', 'token_expired']);

/** The results of the lines of a batch. */
interface Tally {
  accepted: number;
  unchanged: number;
  refusals: Refusals;
}

/** Writes batches one after the other on one connection. Each is one transaction, which also records the import's progress. */
export class BatchWriter<Input, Row extends ImportRow<Input>> {
  readonly #connection: Transaction;
  readonly #request: ImportRequest<Input, Row>;
  #progress: Progress;
  #stopped = false;

  constructor(connection: Transaction, request: ImportRequest<Input, Row>) {
    this.#connection = connection;
    this.#request = request;
    this.#progress = request.from;
  }

  /** What has been committed so far. */
  get progress(): Progress {
    return this.#progress;
  }

  get answer(): ImportAnswer {
    return answerOf(this.#progress);
  }

  /** Whether a refused line has ended the import. */
  get stopped(): boolean {
    return this.#stopped;
  }

  async write(batch: Batch<Row>): Promise<void> {
    for (const [line, problem] of (await this.#request.kind.prepare?.(batch.rows)) ?? [])
      batch.refusals.set(line, problem);
    await afterMoves(MAX_MOVE_MS, () => this.#attempt(batch, { attempt: 1, whole: true }));
  }

  /**
   * Writes a batch in one transaction. `check` cannot foresee some failures: another caller took an identifier meanwhile, or the database
   * refuses a value. Then the whole batch is tried once more, and halved down to the line that is at fault.
   */
  async #attempt(batch: Batch<Row>, { attempt, whole }: { attempt: number; whole: boolean }): Promise<void> {
    const { rows } = batch;
    try {
      this.#progress = await this.#transaction(async () => {
        const tally: Tally = { accepted: 0, unchanged: 0, refusals: new Refusals(batch.refusals) };
        const open = rows.filter(({ line }) => !tally.refusals.has(line));
        if (whole) await this.#insert(open, tally);
        else await this.#halve(open, tally);
        return this.#finish(batch, tally);
      });
    } catch (error) {
      if (CONTENTION.has(codeOf(error) ?? '') && attempt < MAX_ATTEMPTS)
        return this.#attempt(batch, { attempt: attempt + 1, whole });
      if (!whole || this.#request.kind.whole || ENDS_IMPORT.has(this.#request.toProblem(error).code)) throw error;
      await this.#attempt(batch, { attempt, whole: false });
    }
  }

  /** Writes the rows that can be written, with each half in a savepoint. */
  async #halve(rows: Row[], tally: Tally): Promise<void> {
    if (rows.length === 0) return;
    const before = { ...tally, refusals: new Refusals(tally.refusals) };
    const tx = this.#connection;
    try {
      return await attempt(tx, () => this.#insert(rows, tally));
    } catch (error) {
      const problem = this.#request.toProblem(error);
      if (CONTENTION.has(codeOf(error) ?? '') || ENDS_IMPORT.has(problem.code)) throw error;
      this.#request.scope.trades?.clear();
      Object.assign(tally, before);
      if (rows.length === 1) {
        tally.refusals.set(rows[0]?.line ?? 0, problem);
        return;
      }
    }
    const half = rows.length >> 1;
    await this.#halve(rows.slice(0, half), tally);
    await this.#halve(rows.slice(half), tally);
  }

  async #insert(rows: Row[], tally: Tally): Promise<void> {
    const parts = this.#request.rule === 'reject' ? [rows] : withoutRepetitions(rows);
    const { kind, scope } = this.#request;
    const options = { kind, ordered: scope.stop === true };
    await inCellsOfRows(this.#connection, parts, options, (part) => this.#insertPart(part, tally));
  }

  async #insertPart(rows: Row[], tally: Tally): Promise<void> {
    const { kind, scope, rule } = this.#request;
    const { refusals } = tally;
    const tx = this.#connection;
    /** The rows up to the line at which the import stops. */
    const remaining = (some: Row[]) => {
      const end = scope.stop ? refusals.first : Number.POSITIVE_INFINITY;
      return some.filter(({ line }) => line < end && !refusals.has(line));
    };
    const open = remaining(rows);
    if (open.length === 0) return;
    const { fresh, changed, unchanged } = await settleConflicts(tx, open, { kind, rule, scope }, refusals);
    for (const [line, problem] of await kind.check(tx, fresh, scope)) refusals.set(line, problem);
    for (const [line, problem] of await claimLines(tx, kind, remaining(fresh))) refusals.set(line, problem);
    const created = remaining(fresh);
    noteImported(tx, scope, kind, created);
    if (created.length > 0) await kind.insert(tx, created, scope);
    const updated = remaining(changed);
    if (updated.length > 0) await kind.update?.write(tx, updated, scope);
    tally.accepted += created.length + updated.length;
    tally.unchanged += remaining(unchanged).length;
  }

  /** Writes the results of a batch. @returns the progress after it */
  async #finish(batch: Batch<Row>, { accepted, unchanged, refusals }: Tally): Promise<Progress> {
    const { kind, scope, place, importId } = this.#request;
    // One row for each batch, because one for each record would double the writes. The hash shows which lines they were.
    if (accepted > 0)
      audit(this.#connection, scope.act, {
        action: 'import',
        entity: kind.entity,
        entityId: scope.act.requestId,
        after: { first_line: batch.firstLine, last_line: batch.lastLine, accepted, sha256: batch.sha256 },
      });
    const sorted = [...refusals].sort(([a], [b]) => a - b);
    const refused = scope.stop ? sorted.slice(0, 1) : sorted;
    this.#stopped = scope.stop === true && refused.length > 0;
    const former = this.#progress;
    const errors = listedErrors(former.errors.length, refused, place);
    const progress = {
      linesRead: this.#stopped ? present(refused[0])[0] : batch.lastLine,
      accepted: former.accepted + accepted,
      unchanged: former.unchanged + unchanged,
      rejected: former.rejected + refused.length,
      errors: [...former.errors, ...errors],
      sha256: batch.fileSha256,
    };
    await saveProgress(this.#connection, importId, progress, { errors, done: this.#stopped, now: scope.act.now });
    return progress;
  }

  async #transaction<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await transactionOn(this.#connection, async () => {
        await this.#request.confirm?.(this.#connection);
        return work();
      });
    } catch (error) {
      this.#request.scope.trades?.clear();
      throw error;
    }
  }
}

/** What the change feed needs to know about an imported record besides its identifier: its client. */
interface Owned {
  client_id?: string;
  clients?: { client_id: string }[];
}

/** Notes the records that a batch creates, with one change for each. @param rows with their identifiers */
export function noteImported<Input, Row extends ImportRow<Input>>(
  tx: Transaction,
  scope: ImportScope,
  kind: ImportKind<Input, Row>,
  rows: readonly Row[],
): void {
  const { entity } = kind;
  const recordOf = kind.records?.(scope);
  for (const row of rows) {
    const { id, input } = row;
    if (id === undefined) continue;
    const { client_id: owner, clients } = input as Owned;
    const members = clients?.map((client) => client.client_id);
    const clientId = members ? null : entity === 'client' ? id : (owner ?? null);
    const change = { entity, id, clientId, action: 'import', created: true, known: recordOf?.(row) };
    noteChange(tx, scope.act, members ? { ...change, members } : change);
  }
}

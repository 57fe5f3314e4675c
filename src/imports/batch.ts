import { Problem } from '../values/errors.ts';
import { type ImportRow, Refusals } from './kind.ts';
import type { LineHash } from './line-hash.ts';
import { type Line, parseLine, readLines } from './lines.ts';
import type { ImportRequest } from './request.ts';

/** The most bytes of lines in one batch. It bounds the memory for a batch of the longest lines. */
const MAX_BATCH_BYTES = 4_194_304;

/** Lines that are written in one transaction. */
export interface Batch<Row> {
  firstLine: number;
  lastLine: number;
  rows: Row[];
  /** Lines whose record could not be read. */
  refusals: Refusals;
  /** The hash of the lines, for the audit trail. */
  sha256: string;
  /** The hash of the file up to the end of the batch. */
  fileSha256: Buffer;
}

/**
 * Reads lines into batches, and checks the shape of each record. It skips the lines that a former run has committed. If the request says
 * so, it ends at the first refused line.
 * @throws Problem idempotency_conflict if the skipped lines are not those of the former run
 */
export async function* readBatches<Input, Row extends ImportRow<Input>>(
  source: AsyncIterable<Buffer>,
  hash: LineHash,
  request: ImportRequest<Input, Row>,
): AsyncGenerator<Batch<Row>> {
  const { kind, scope, from } = request;
  let collector = new Collector<Row>(from.linesRead + 1);
  const take = ({ number, end }: Line): Batch<Row> => {
    const { file: fileSha256, part: sha256 } = hash.cut(end);
    const { firstLine, rows, refusals } = collector;
    collector = new Collector(number + 1);
    return { firstLine, lastLine: number, rows, refusals, sha256, fileSha256 };
  };
  let last: Line = { number: 0, bytes: undefined, end: 0 };
  if (from.linesRead === 0) checkBeginning(hash.soFar(), from.sha256);
  for await (const lines of readLines(source)) {
    for (const line of lines) {
      last = line;
      if (line.number <= from.linesRead) {
        if (line.number === from.linesRead) checkBeginning(hash.cut(line.end).file, from.sha256);
        continue;
      }
      collector.bytes += line.bytes?.length ?? 0;
      try {
        const record = parseLine(line);
        if (record === undefined) continue;
        const lacks = request.checkShape(record);
        const change = lacks && kind.update?.read?.(line.number, record as Input);
        const row = change ?? kind.read(line.number, record as Input, scope);
        // Set only if it exists: copying it with every row would be a tenth of an import's garbage.
        if (lacks) row.lacks = lacks;
        collector.rows.push(row);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        collector.refusals.set(line.number, error);
        if (scope.stop) {
          yield take(line);
          return;
        }
      }
      if (collector.records >= kind.batchRows || collector.bytes >= MAX_BATCH_BYTES) yield take(line);
    }
  }
  if (last.number < from.linesRead) checkBeginning(hash.soFar(), undefined);
  if (last.number >= collector.firstLine) yield take(last);
}

/** @throws Problem idempotency_conflict */
function checkBeginning(found: Buffer, wanted: Buffer | undefined): void {
  if (wanted?.equals(found)) return;
  throw new Problem('idempotency_conflict', {
    field: 'Idempotency-Key',
    message: 'was used with another request, or with a file that begins otherwise',
  });
}

/** Collects the lines of a batch. */
class Collector<Row> {
  readonly rows: Row[] = [];
  readonly refusals = new Refusals();
  readonly firstLine: number;
  bytes = 0;

  constructor(firstLine: number) {
    this.firstLine = firstLine;
  }

  get records(): number {
    return this.rows.length + this.refusals.size;
  }
}

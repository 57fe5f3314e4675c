import { createHash } from 'node:crypto';
import { Problem } from '../errors.ts';
import { type ImportRow, Refusals } from './kind.ts';
import { parseLine, readLines } from './lines.ts';
import type { ImportRequest } from './request.ts';

/** Bytes of lines in one batch: bounds the memory that a batch of the longest lines takes. */
const MAX_BATCH_BYTES = 4_194_304;

/** Lines that are written in one transaction. */
export interface Batch<Row> {
  firstLine: number;
  lastLine: number;
  rows: Row[];
  /** Lines whose record could not be read. */
  refusals: Refusals;
  /** Hash of the lines, for the audit trail. */
  sha256: string;
}

/** Reads lines into batches, each record checked for its shape. Ends at the first refused line where the request says so. */
export async function* readBatches<Input, Row extends ImportRow<Input>>(
  source: AsyncIterable<Buffer>,
  request: ImportRequest<Input, Row>,
): AsyncGenerator<Batch<Row>> {
  const { kind, scope, stop } = request;
  let collector = new Collector<Row>(1);
  const take = (lastLine: number): Batch<Row> => {
    const batch = collector.batch(lastLine);
    collector = new Collector(lastLine + 1);
    return batch;
  };
  let number = 0;
  for await (const lines of readLines(source)) {
    for (const line of lines) {
      number = line.number;
      collector.count(line.bytes);
      try {
        const record = parseLine(line);
        if (record === undefined) continue;
        request.checkShape(record);
        collector.rows.push(kind.read(number, record as Input, scope));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        collector.refusals.set(number, error);
        if (stop) {
          yield take(number);
          return;
        }
      }
      if (collector.records >= kind.batchRows || collector.bytes >= MAX_BATCH_BYTES) yield take(number);
    }
  }
  if (collector.records > 0) yield take(number);
}

/** A batch while its lines are read. */
class Collector<Row> {
  readonly rows: Row[] = [];
  readonly refusals = new Refusals();
  readonly #firstLine: number;
  readonly #hash = createHash('sha256');
  bytes = 0;

  constructor(firstLine: number) {
    this.#firstLine = firstLine;
  }

  get records(): number {
    return this.rows.length + this.refusals.size;
  }

  /** @param line undefined where it was too long to be kept */
  count(line: Buffer | undefined): void {
    if (!line) return;
    this.#hash.update(line).update('\n');
    this.bytes += line.length;
  }

  batch(lastLine: number): Batch<Row> {
    const { rows, refusals } = this;
    return { firstLine: this.#firstLine, lastLine, rows, refusals, sha256: this.#hash.digest('hex') };
  }
}

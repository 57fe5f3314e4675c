import type { Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { readBatches } from './batch.ts';
import { BatchWriter } from './batch-writer.ts';
import type { ImportAnswer } from './import.ts';
import type { ImportRow } from './kind.ts';
import type { LineHash } from './line-hash.ts';
import type { ImportRequest } from './request.ts';

/**
 * Imports a stream of lines, each of them a JSON record. A batch of lines is one transaction. A line that cannot be imported is reported,
 * and the rest of its batch is imported. While one batch is written, only the next one is read, so memory does not grow with the file.
 * @param connection used for one batch after the other
 * @param source bytes, read only as fast as batches are written
 * @param hash of the same bytes
 * @throws Problem integration_error if the database fails, and whatever the source throws; its details state the import's progress
 */
export async function importLines<Input, Row extends ImportRow<Input>>(
  connection: Transaction,
  source: AsyncIterable<Buffer>,
  hash: LineHash,
  request: ImportRequest<Input, Row>,
): Promise<ImportAnswer> {
  const writer = new BatchWriter(connection, request);
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const batch of readBatches(source, hash, request)) {
      await writing;
      if (writer.stopped) break;
      writing = writer.write(batch);
      // A failure is handled at the next await. Until then it must not count as unhandled.
      writing.catch(() => {});
    }
    await writing;
    return writer.answer;
  } catch (error) {
    await writing.catch(() => {});
    const problem = request.toProblem(error);
    const { linesRead, accepted, rejected } = writer.progress;
    if (problem.code === 'idempotency_conflict') throw problem;
    if (problem.code === 'interrupted')
      throw new Problem(problem.code, `line ${linesRead + 1}: go on from here`, { cause: error });
    const reached =
      linesRead === 0
        ? 'no line was imported'
        : `lines 1 to ${linesRead} were processed: ${accepted} accepted, ${rejected} rejected`;
    throw new Problem(problem.code, `${problem.details}; ${reached}`, { cause: error });
  }
}

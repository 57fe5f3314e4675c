import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import type { ImportAnswer } from './answer.ts';
import { readBatches } from './batch.ts';
import { BatchWriter } from './batch-writer.ts';
import type { ImportRow } from './kind.ts';
import type { ImportRequest } from './request.ts';

/**
 * Imports a stream of lines, each a JSON record. A batch of lines is one transaction. A line that cannot be imported is reported, and
 * the rest of its batch is imported. While one batch is written the next one is read, and no more: memory does not grow with the file.
 * @param connection used for one batch after the other
 * @param source bytes, read only as fast as batches are written
 * @throws Problem integration_error where the database fails; its details say how far the import got
 */
export async function importLines<Input, Row extends ImportRow<Input>>(
  connection: Transaction,
  source: AsyncIterable<Buffer>,
  request: ImportRequest<Input, Row>,
): Promise<ImportAnswer> {
  const writer = new BatchWriter(connection, request);
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const batch of readBatches(source, request)) {
      await writing;
      if (writer.stopped) break;
      writing = writer.write(batch);
      // Its failure is met at the next await; until then it must not count as unhandled.
      writing.catch(() => {});
    }
    await writing;
    return writer.answer;
  } catch (error) {
    await writing.catch(() => {});
    const problem = request.toProblem(error);
    throw new Problem(problem.code, `${problem.details}; ${progress(writer)}`, { cause: error });
  }
}

function progress({ lastLine, answer }: { lastLine: number; answer: ImportAnswer }): string {
  if (lastLine === 0) return 'no line was imported';
  return `lines 1 to ${lastLine} were processed: ${answer.accepted} accepted, ${answer.rejected} rejected`;
}

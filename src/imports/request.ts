import type { Transaction } from '../database/database.ts';
import type { Problem } from '../values/errors.ts';
import type { ConflictRule } from './conflicts.ts';
import type { Progress } from './import.ts';
import type { ImportKind, ImportRow, ImportScope } from './kind.ts';

/** What a caller wants to import, and how. */
export interface ImportRequest<Input, Row extends ImportRow<Input>> {
  kind: ImportKind<Input, Row>;
  scope: ImportScope;
  importId: string;
  /** What former runs of the import have committed. */
  from: Progress;
  /** What happens to a line whose identifier is in use. */
  rule: ConflictRule;
  /**
   * Checks the shape of a record, as the single call does.
   * @returns what the line lacks for a new record, if stored records may be changed
   * @throws Problem
   */
  checkShape(record: unknown): Problem | undefined;
  /** Begins each batch's transaction by checking that the caller may still import. @throws Problem, which ends the import */
  confirm?(tx: Transaction): Promise<void>;
  /** What precedes the name of a field in a refusal: `body`, the same as in the single call. */
  place: string;
  /** Turns a database error into the caller's refusal; `integration_error` ends the import. */
  toProblem(error: unknown): Problem;
}

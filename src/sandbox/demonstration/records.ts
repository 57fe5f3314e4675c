import { audit } from '../../audit/record.ts';
import type { Transaction } from '../../database/database.ts';
import { noteImported } from '../../imports/batch-writer.ts';
import { claimLines } from '../../imports/claims.ts';
import type { ImportKind, ImportRow, ImportScope } from '../../imports/kind.ts';

/** Adds records to the database as an import does, in the caller's transaction. @throws Problem the first refusal */
export async function putRecords<Input, Row extends ImportRow<Input>>(
  tx: Transaction,
  scope: ImportScope,
  kind: ImportKind<Input, Row>,
  records: Input[],
): Promise<void> {
  const rows = records.map((record, index) => kind.read(index + 1, record, scope));
  for (const check of [
    () => kind.prepare?.(rows),
    () => kind.check(tx, rows, scope),
    () => claimLines(tx, kind, rows),
  ]) {
    for (const problem of (await check())?.values() ?? []) throw problem;
  }
  noteImported(tx, scope, kind, rows);
  await kind.insert(tx, rows, scope);
  audit(tx, scope.act, {
    action: 'import',
    entity: kind.entity,
    entityId: 'demonstration',
    after: { accepted: rows.length },
  });
}

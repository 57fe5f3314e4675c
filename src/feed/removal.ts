import type { Act } from '../audit/act.ts';
import { keyOf, noteChange } from '../audit/change.ts';
import type { Transaction } from '../database/database.ts';
import { idsOf, KINDS, TOLD_KINDS } from '../database/kinds.ts';
import type { Presentation } from '../payments/presentation.ts';
import { readRecords } from './records.ts';

/**
 * Notes, before it happens, that everything of a client is removed. What is made again afterwards goes on with its next version.
 * @returns how many rows of each table were noted
 */
export async function noteReset(
  tx: Transaction,
  act: Act,
  { clientId, presentation }: { clientId: string; presentation: Presentation },
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const entity of TOLD_KINDS) {
    const { table, ids } = KINDS[entity];
    const { rows } = await tx.query<{ id: string }>(idsOf(entity), [clientId]);
    const removed = rows.map(({ id }) => ({ entity, id, clientId, action: 'delete' }));
    const records = await readRecords(tx, removed, { now: act.now, presentation });
    for (const change of removed)
      noteChange(tx, act, { ...change, deleted: records.get(keyOf(entity, change.id))?.text ?? '{}' });
    // The rows of approvals are those of payments.
    if (!ids) counts.set(table, rows.length);
  }
  return counts;
}

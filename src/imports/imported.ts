import { noteChange } from '../audit/change.ts';
import type { Transaction } from '../database/database.ts';
import type { ImportKind, ImportRow, ImportScope } from './kind.ts';

/** What the change feed needs of an imported record in addition to its identifier: whose it is. */
interface Owned {
  client_id?: string;
  clients?: { client_id: string }[];
}

/** Notes the records that a batch creates: one change for each. @param rows with their identifiers */
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

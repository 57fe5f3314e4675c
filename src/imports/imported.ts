import { type ChangeEntity, noteChange } from '../change.ts';
import type { Act } from '../context.ts';
import type { Transaction } from '../database.ts';
import type { ImportRow } from './kind.ts';

/** What the change feed needs of an imported record besides its identifier: whose it is. */
interface Owned {
  client_id?: string;
  clients?: { client_id: string }[];
}

/** Notes the records that a batch creates: one change for each. @param rows with their identifiers */
export function noteImported<Input>(
  tx: Transaction,
  act: Act,
  entity: ChangeEntity,
  rows: readonly ImportRow<Input>[],
): void {
  for (const { id, input } of rows) {
    if (id === undefined) continue;
    const { client_id: owner, clients } = input as Owned;
    const members = clients?.map((client) => client.client_id);
    const clientId = members ? null : entity === 'client' ? id : (owner ?? null);
    noteChange(tx, act, { entity, id, clientId, action: 'import', created: true, ...(members && { members }) });
  }
}

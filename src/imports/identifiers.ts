import { noteChosen } from '../database/cells/identifiers.ts';
import type { Transaction } from '../database/database.ts';
import { KINDS, type Kind } from '../database/kinds.ts';
import { existingIds, nextIds } from '../database/rows.ts';
import { idsHeld, idsOfOthers } from './claims.ts';
import type { ImportRow, Refusals } from './kind.ts';

/** Refuses the lines whose identifier is in use, in the table or on an earlier line of the batch. Gives lines without an identifier an unused one. */
export async function resolveIds(
  tx: Transaction,
  rows: ImportRow<unknown>[],
  refusals: Refusals,
  kind: Kind,
): Promise<void> {
  const { table, id: column } = KINDS[kind];
  const ids = rows.map(({ id }) => id).filter((id) => id !== undefined);
  noteChosen(tx, kind, ids);
  const taken = await existingIds(tx, { table, column }, ids);
  for (const id of await idsOfOthers(tx, column, rows)) taken.add(id);
  for (const { line, id } of rows) {
    if (id === undefined || refusals.has(line)) continue;
    if (taken.has(id)) refusals.refuse(line, 'already_exists', { field: column, message: 'is already in use' });
    taken.add(id);
  }
  const open = rows.filter(({ line, id }) => id === undefined && !refusals.has(line));
  while (open.length > 0) {
    const made = await nextIds(tx, kind, open.length);
    const used = await existingIds(tx, { table, column }, made);
    const held = await idsHeld(tx, column, made);
    for (const id of made.filter((each) => !used.has(each) && !held.has(each) && !taken.has(each))) {
      const next = open.shift();
      if (next) next.id = id;
    }
  }
}

import type { Transaction } from '../database/database.ts';
import { existingIds, nextIds } from '../database/rows.ts';
import { idsHeld, idsOfOthers } from './claims.ts';
import type { ImportRow, Refusals } from './kind.ts';

/** Where the identifiers of a kind are kept, and how more of them are made. Names are the program's own, never a caller's. */
export interface Identifiers {
  table: string;
  column: string;
  /** Makes identifiers, which may be in use. */
  make(tx: Transaction, count: number): Promise<string[]>;
}

/** Identifiers of a sequence, in its order: `PAY000001`. */
export function fromSequence(sequence: string, prefix: string): Identifiers['make'] {
  return (tx, count) => nextIds(tx, { sequence, prefix }, count);
}

/**
 * Refuses the lines whose identifier is in use, in the table or on an earlier line of the batch. Gives lines without an identifier
 * one that nobody uses.
 */
export async function resolveIds(
  tx: Transaction,
  rows: ImportRow<unknown>[],
  refusals: Refusals,
  identifiers: Identifiers,
): Promise<void> {
  const ids = rows.map(({ id }) => id).filter((id) => id !== undefined);
  const taken = await existingIds(tx, identifiers, ids);
  for (const id of await idsOfOthers(tx, identifiers.column, rows)) taken.add(id);
  for (const { line, id } of rows) {
    if (id === undefined || refusals.has(line)) continue;
    if (taken.has(id))
      refusals.refuse(line, 'already_exists', { field: identifiers.column, message: 'is already in use' });
    taken.add(id);
  }
  const open = rows.filter(({ line, id }) => id === undefined && !refusals.has(line));
  while (open.length > 0) {
    const made = await identifiers.make(tx, open.length);
    const used = await existingIds(tx, identifiers, made);
    const held = await idsHeld(tx, identifiers.column, made);
    for (const id of made.filter((each) => !used.has(each) && !held.has(each) && !taken.has(each))) {
      const next = open.shift();
      if (next) next.id = id;
    }
  }
}

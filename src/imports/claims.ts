import { type Claim, claimIds, heldIds, isClaimed, othersOf, takenId } from '../database/cells/identifiers.ts';
import { hasSeveralCells } from '../database/cells/pool.ts';
import type { Transaction } from '../database/database.ts';
import { fieldsOf } from '../values/unknown.ts';
import { type ImportKind, type ImportRow, Refusals } from './kind.ts';

/** SQLSTATE of a serialization failure. The batch is tried again, and makes other identifiers. */
const CONTENTION = '40001';

/**
 * Claims the identifiers of lines whose records are about to be written (cells/identifiers.ts), with one statement for each field. Does
 * nothing if the database has one cell.
 * @returns the lines to refuse, because another client has their identifier
 */
export async function claimLines<Input, Row extends ImportRow<Input>>(
  tx: Transaction,
  { claims = [] }: Pick<ImportKind<Input, Row>, 'claims'>,
  rows: readonly Row[],
): Promise<Refusals> {
  const refusals = new Refusals();
  if (!hasSeveralCells(tx)) return refusals;
  for (const { field, id: idOf } of claims) {
    for (const { row } of await claimIds(tx, field, claimsOf(rows, idOf))) {
      // An identifier that was made here cannot be the line's fault.
      if (idOf(row) !== fieldsOf(row.input)[field])
        throw Object.assign(new Error('a made identifier was taken'), { code: CONTENTION });
      if (!refusals.has(row.line)) refusals.set(row.line, takenId(field));
    }
  }
  return refusals;
}

/** The given identifiers of a column that belong to a client other than the line's; empty if the database has one cell. */
export async function idsOfOthers(
  tx: Transaction,
  column: string,
  rows: readonly ImportRow<unknown>[],
): Promise<Set<string>> {
  if (!hasSeveralCells(tx) || !isClaimed(column)) return new Set();
  const others = await othersOf(
    tx,
    column,
    claimsOf(rows, ({ id }) => id),
  );
  return new Set(others.map(({ id }) => id));
}

/** Those generated identifiers of a column that are in use in any cell; empty if the database has one cell. */
export async function idsHeld(tx: Transaction, column: string, ids: readonly string[]): Promise<Set<string>> {
  return hasSeveralCells(tx) && isClaimed(column) ? heldIds(tx, column, ids) : new Set();
}

function claimsOf<Row extends ImportRow<unknown>>(
  rows: readonly Row[],
  idOf: (row: Row) => string | undefined,
): (Claim & { row: Row })[] {
  return rows.flatMap((row) => {
    const [id, { client_id: clientId }] = [idOf(row), fieldsOf(row.input)];
    return id === undefined || typeof clientId !== 'string' ? [] : [{ id, clientId, row }];
  });
}

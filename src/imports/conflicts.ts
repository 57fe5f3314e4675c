import { withinCell } from '../database/cells/connection.ts';
import { overCells } from '../database/cells/union.ts';
import type { Transaction } from '../database/database.ts';
import { fieldsOf } from '../values/unknown.ts';
import { idsOfOthers } from './claims.ts';
import type { Comparison, ImportKind, ImportRow, ImportScope, Refusals } from './kind.ts';

export const CONFLICT_RULES = ['reject', 'skip', 'update'] as const;
/** What happens to a line whose identifier is in use (docs/imports.md, Records that exist). */
export type ConflictRule = (typeof CONFLICT_RULES)[number];

/** The lines of a batch, split by whether their records are already stored. */
export interface Settled<Row> {
  fresh: Row[];
  changed: Row[];
  unchanged: Row[];
}

/**
 * Compares lines with the stored records that they name, field by field, in the order of the line. Fields that a line leaves out are not
 * compared.
 * @param rows with distinct identifiers
 */
export async function settleConflicts<Input, Row extends ImportRow<Input>>(
  tx: Transaction,
  rows: Row[],
  { kind, rule, scope }: { kind: ImportKind<Input, Row>; rule: ConflictRule; scope: ImportScope },
  refusals: Refusals,
): Promise<Settled<Row>> {
  const { comparison, update } = kind;
  if (rule === 'reject' || !comparison) return { fresh: rows, changed: [], unchanged: [] };
  const stored = await readStored(tx, comparison, rows);
  const others = await idsOfOthers(tx, comparison.id, rows);
  if (others.size > 0) {
    const elsewhere = rows.filter(({ id }) => id !== undefined && others.has(id) && !stored.has(id));
    const found = await withinCell(tx, 'all', () => readStored(tx, comparison, elsewhere));
    for (const [id, record] of found) stored.set(id, record);
  }
  const settled: Settled<Row> = { fresh: [], changed: [], unchanged: [] };
  for (const row of rows) {
    const record = row.id === undefined ? undefined : stored.get(row.id);
    if (record === undefined) {
      if (row.lacks) refusals.set(row.line, row.lacks);
      else settled.fresh.push(row);
      continue;
    }
    const different = await differences(comparison, fieldsOf(row.input), record, scope);
    const [field] = different.filter((each) => rule === 'skip' || update?.fixed.includes(each));
    if (field !== undefined)
      refusals.refuse(row.line, 'already_exists', { field, message: 'is not that of the record that exists' });
    else if (different.length === 0) settled.unchanged.push(row);
    else settled.changed.push(row);
  }
  return settled;
}

async function readStored(
  tx: Transaction,
  { table, id, fields }: Comparison,
  rows: ImportRow<unknown>[],
): Promise<Map<string, Record<string, unknown>>> {
  const named = new Set(rows.flatMap(({ input }) => Object.keys(fieldsOf(input))));
  const columns = Object.entries(fields)
    .filter(([field]) => named.has(field))
    .map(([field, expression]) => `${expression} as "${field}"`);
  const text = `select ${[`t.${id} as "id of the record"`, ...columns].join(', ')} from ${table} t where t.${id} = any($1)`;
  const found = await tx.query<Record<string, unknown> & { 'id of the record': string }>(overCells(tx, table, text), [
    rows.map((row) => row.id).filter((each) => each !== undefined),
  ]);
  return new Map(found.rows.map((record) => [record['id of the record'], record]));
}

/** The fields of a line that differ from the stored record, in the order of the line. */
async function differences(
  { id, fields, forms = {}, chosen = [], matches = {} }: Comparison,
  input: object,
  record: Record<string, unknown>,
  scope: ImportScope,
): Promise<string[]> {
  const different: string[] = [];
  for (const [field, given] of Object.entries(input)) {
    if (field === id || fields[field] === undefined || (given === null && chosen.includes(field))) continue;
    const stored = record[field];
    const form = (value: unknown) => (value === null ? null : (forms[field]?.(value, scope.vault) ?? value));
    const same = matches[field] ? await matches[field](given, stored) : form(given) === form(stored);
    if (!same) different.push(field);
  }
  return different;
}

/** Splits rows so that no part has two rows with the same identifier. So a later line meets the record that an earlier line has made. */
export function withoutRepetitions<Row extends ImportRow<unknown>>(rows: Row[]): Row[][] {
  const parts: Row[][] = [];
  let seen = new Set<string>();
  let part: Row[] = [];
  for (const row of rows) {
    if (row.id !== undefined && seen.has(row.id)) {
      parts.push(part);
      part = [];
      seen = new Set();
    }
    if (row.id !== undefined) seen.add(row.id);
    part.push(row);
  }
  return [...parts, part];
}

import { CELL_TABLES } from '../database/cells/tables.ts';
import type { Db } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';
import { nameOfKey, SEALED_COLUMNS, type SealedColumn, sealedTexts } from './sealed-column.ts';

/** The number of rows that are examined at either end of a large table. */
const SAMPLED_ROWS = 1_000;

/**
 * Why the master keys of this process (LOMBARD_MASTER_KEY) do not open everything in the database, for the person who starts it. Undefined
 * if they do. So this is noticed at the start and not at the first sign-in.
 * @param cells the cells that answer; the first one has what exists once
 */
export async function missingKey(cells: readonly Db[], vault: Vault): Promise<string | undefined> {
  const missing = new Set<string>();
  const places = new Set<string>();
  for (const column of SEALED_COLUMNS)
    for (const db of CELL_TABLES.has(column.table) ? cells : cells.slice(0, 1)) {
      const { rows } = await db.query<{ name: string | null; text: Buffer }>(
        `select distinct on (name) name, text from (select ${nameOfKey('text')} as name, text from (${texts(column)}) s) n`,
      );
      const unopened = rows.filter(({ text }) => !opens(vault, text, column.purpose));
      for (const { name } of unopened) missing.add(name ? `the key ${name}` : 'a key');
      if (unopened.length > 0) places.add(`${column.table}.${column.column}`);
    }
  if (missing.size === 0) return undefined;
  return `LOMBARD_MASTER_KEY lacks ${[...missing].join(' and ')} that sealed ${[...places].join(', ')} in this database: add it to the list`;
}

function texts(column: SealedColumn): string {
  const { table, age } = column;
  if (!age) return sealedTexts(column);
  const end = (order: string) => `(select * from ${table} order by ${age} ${order} limit ${SAMPLED_ROWS})`;
  return sealedTexts(column, `(${end('asc')} union all ${end('desc')})`);
}

function opens(vault: Vault, text: Buffer, purpose: string): boolean {
  try {
    vault.open(text, purpose);
    return true;
  } catch {
    return false;
  }
}

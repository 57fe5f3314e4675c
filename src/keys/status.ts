import type { Db } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';
import { nameOfKey, SEALED_COLUMNS, sealedTexts } from './sealed-column.ts';

/** What a master key has sealed. */
export interface KeyStatus {
  /** A hash of the key; null for texts from before texts named their key. */
  key: string | null;
  /**
   * `seals`: the first key of the list; `opens`: another key of the list; `missing`: not in the list; `unnamed`: texts that open if any key
   * of the list opens them.
   */
  state: 'seals' | 'opens' | 'missing' | 'unnamed';
  sealed: number;
  /** The number of texts in each column. */
  columns: Record<string, number>;
}

/** Counts what each key has sealed: the keys of LOMBARD_MASTER_KEY in order, then others that the database names. */
export async function keysStatus(db: Db, vault: Vault): Promise<KeyStatus[]> {
  const found = new Map<string | null, Record<string, number>>(vault.names.map((name) => [name, {}]));
  for (const column of SEALED_COLUMNS) {
    const { rows } = await db.query<{ name: string | null; texts: number }>(
      `select ${nameOfKey('text')} as name, count(*) as texts from (${sealedTexts(column)}) s group by 1 order by 1`,
    );
    for (const { name, texts } of rows) {
      const columns = found.get(name) ?? {};
      columns[`${column.table}.${column.column}`] = texts;
      found.set(name, columns);
    }
  }
  return [...found].map(([key, columns]) => ({
    key,
    state: stateOf(vault, key),
    sealed: Object.values(columns).reduce((sum, texts) => sum + texts, 0),
    columns,
  }));
}

function stateOf({ names }: Vault, key: string | null): KeyStatus['state'] {
  if (key === null) return 'unnamed';
  if (key === names[0]) return 'seals';
  return names.includes(key) ? 'opens' : 'missing';
}

import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { cellNumbers } from '../database/cells/directory.ts';
import { poolOf } from '../database/cells/pool.ts';
import { CELL_TABLES } from '../database/cells/tables.ts';
import { type Pool, type Transaction, transaction } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';
import { nameOfKey, SEALED_COLUMNS, type SealedColumn } from './sealed-column.ts';

/** The number of rows that one transaction seals again. */
const BATCH_ROWS = 200;
/** The number of passes. Until it is restarted, a process with an older list of keys seals with its own first key. */
const MAX_PASSES = 3;

export interface Rotated {
  /** The number of rows that were sealed again. */
  sealed: number;
  /** The number of rows that no key of the list opens, by column. */
  unopened: Record<string, number>;
}

/**
 * Seals everything that other keys have sealed again with the first key, in batches, while the service runs. It can be interrupted at any
 * point and repeated. A secret that changes meanwhile keeps its new value.
 * @param batched called after each batch with the number of rows sealed so far
 */
export async function rotateKeys(
  pool: Pool,
  act: Act,
  vault: Vault,
  batched: (sealed: number) => void,
): Promise<Rotated> {
  const rotated: Rotated = { sealed: 0, unopened: {} };
  const cells = await cellNumbers(pool);
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const before = rotated.sealed;
    rotated.unopened = {};
    // What exists once is sealed again in the first cell, which holds it.
    for (const cell of cells)
      for (const column of SEALED_COLUMNS)
        if (cell === 0 || CELL_TABLES.has(column.table))
          await rotateColumn(poolOf(pool, cell), vault, { column, rotated, batched });
    if (rotated.sealed === before) break;
  }
  const [key = ''] = vault.names;
  if (rotated.sealed > 0)
    await transaction(pool, async (tx) =>
      audit(tx, act, {
        action: 'action',
        entity: 'master_key',
        entityId: key,
        after: { action: 'rotate', rows: rotated.sealed },
      }),
    );
  return rotated;
}

interface Rotation {
  column: SealedColumn;
  rotated: Rotated;
  batched: (sealed: number) => void;
}

interface SealedRow {
  id: unknown;
  sealed: Buffer | Buffer[];
}

async function rotateColumn(pool: Pool, vault: Vault, { column, rotated, batched }: Rotation): Promise<void> {
  for (let last: unknown; ; ) {
    const rows = await transaction(pool, async (tx) => {
      const found = await nextRows(tx, vault, column, last);
      // The last used step of a second factor is kept, because the secret is the same.
      await tx.query("select set_config('lombard.keys', 'rotate', true)");
      for (const row of found) {
        const sealed = sealedAgain(vault, row.sealed, column.purpose);
        if (sealed === undefined) count(rotated.unopened, `${column.table}.${column.column}`);
        else rotated.sealed += await replace(tx, column, { row, sealed });
      }
      return found;
    });
    if (rows.length > 0) batched(rotated.sealed);
    if (rows.length < BATCH_ROWS) return;
    last = rows.at(-1)?.id;
  }
}

async function nextRows(tx: Transaction, vault: Vault, column: SealedColumn, last: unknown): Promise<SealedRow[]> {
  const { table, column: name, key, list } = column;
  const other = `${nameOfKey(list ? 's' : name)} is distinct from '${vault.names[0]}'`;
  const { rows } = await tx.query<SealedRow>(
    `select ${key} as id, ${name} as sealed from ${table} where ${last === undefined ? 'true' : `${key} > $1`}
       and ${list ? `exists (select from unnest(${name}) s where ${other})` : `${name} is not null and ${other}`}
     order by ${key} limit ${BATCH_ROWS}`,
    last === undefined ? [] : [last],
  );
  return rows;
}

/** @returns undefined if no key opens it */
function sealedAgain(vault: Vault, sealed: Buffer | Buffer[], purpose: string): Buffer | Buffer[] | undefined {
  try {
    const again = (text: Buffer) => vault.seal(vault.open(text, purpose), purpose);
    return Array.isArray(sealed) ? sealed.map(again) : again(sealed);
  } catch {
    return undefined;
  }
}

/** Replaces a sealed value. A row that somebody has changed since it was read keeps that change. @returns the number of rows: 0 or 1 */
async function replace(
  tx: Transaction,
  { table, column, key }: SealedColumn,
  { row, sealed }: { row: SealedRow; sealed: Buffer | Buffer[] },
): Promise<number> {
  const { rowCount } = await tx.query(`update ${table} set ${column} = $1 where ${key} = $2 and ${column} = $3`, [
    sealed,
    row.id,
    row.sealed,
  ]);
  return rowCount ?? 0;
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

import type pg from 'pg';
import { type Db, first, type Transaction } from './database.ts';

/**
 * Inserts one row. The record's names are the columns, so that no value can go into the column of another.
 * @param row values by column; undefined ones are left to the column's default. Names are the program's own, never a caller's
 * @returns the columns in `returning`
 */
export async function insertRow<R extends pg.QueryResultRow>(
  tx: Transaction,
  table: string,
  row: object,
  returning: string,
): Promise<R> {
  const input = Object.entries(row).filter(([, value]) => value !== undefined);
  const columns = input.map(([column]) => column).join(', ');
  const places = input.map((_, index) => `$${index + 1}`).join(', ');
  const { rows } = await tx.query<R>(
    `insert into ${table} (${columns}) values (${places}) returning ${returning}`,
    input.map(([, value]) => value),
  );
  return rows[0] as R;
}

/**
 * Sets columns of one row and returns the row.
 * @param key the columns that identify it; client_id is one of them if the table has it
 * @param values new values by column; undefined values are ignored. Column names come from the program, never from a caller
 * @returns the row, or undefined if there was nothing to set or no such row
 */
export async function updateRow<R extends pg.QueryResultRow>(
  tx: Transaction,
  table: string,
  key: Record<string, unknown>,
  values: Record<string, unknown>,
  returning: string,
): Promise<R | undefined> {
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  if (set.length === 0) return undefined;
  const keys = Object.entries(key);
  const assignments = set.map(([column], index) => `${column} = $${index + 1}`).join(', ');
  const condition = keys.map(([column], index) => `${column} = $${set.length + index + 1}`).join(' and ');
  const { rows } = await tx.query<R>(`update ${table} set ${assignments} where ${condition} returning ${returning}`, [
    ...set.map(([, value]) => value),
    ...keys.map(([, value]) => value),
  ]);
  return rows[0];
}

/** The next identifier of a sequence, as `CLI000001`. From the millionth on it has more digits. */
export async function nextId(tx: Transaction, sequence: string, prefix: string): Promise<string> {
  const { rows } = await tx.query<{ id: string }>(`select nextval($1::regclass)::text as id`, [sequence]);
  return prefix + (rows[0]?.id ?? '').padStart(6, '0');
}

/** Which page of a list, from 1 on; of one client, if it is given. */
export interface ListRequest {
  page: number;
  pageSize: number;
  clientId?: string | undefined;
}

/**
 * A page of rows, and how many there are in all.
 * @param list SQL of the program's own; `client` is the column that names the client
 */
export async function listRows<R extends pg.QueryResultRow>(
  db: Db,
  { select, from, client, order }: { select: string; from: string; client: string; order: string },
  { page, pageSize, clientId }: ListRequest,
): Promise<{ rows: R[]; total: number }> {
  const values = clientId === undefined ? [] : [clientId];
  const where = (parameter: string) => (clientId === undefined ? '' : `where ${client} = ${parameter}`);
  const { rows } = await db.query<R>(
    `select ${select} from ${from} ${where('$3')} order by ${order} limit $1 offset $2`,
    [pageSize, (page - 1) * pageSize, ...values],
  );
  const total = first(
    await db.query<{ total: number }>(`select count(*) as total from ${from} ${where('$1')}`, values),
  );
  return { rows, total: total?.total ?? 0 };
}

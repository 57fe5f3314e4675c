import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { textArray } from '../values/text-array.ts';
import { unionOfCells } from './cells/union.ts';
import type { Db, Transaction } from './database.ts';
import { KINDS, type Kind } from './kinds.ts';

/**
 * Inserts one row. The record's names are the columns, so no value can end up in the wrong column.
 * @param row values by column; undefined ones are left to the column's default. Names are the program's own, never a caller's
 * @param options `computed`: expressions by column, without values
 * @returns the columns in `returning`
 */
export async function insertRow<R extends pg.QueryResultRow>(
  tx: Transaction,
  table: string,
  row: object,
  { returning, computed = {} }: { returning: string; computed?: Record<string, string> },
): Promise<R> {
  const input = Object.entries(row).filter(([, value]) => value !== undefined);
  const columns = [...input.map(([column]) => column), ...Object.keys(computed)].join(', ');
  const places = [...input.map((_, index) => `$${index + 1}`), ...Object.values(computed)].join(', ');
  const values = input.map(([, value]) => value);
  const { rows } = await tx.query<R>(
    `insert into ${table} (${columns}) values (${places}) returning ${returning}`,
    values,
  );
  const [made] = rows;
  if (made === undefined) throw new TypeError('the insert gave no row');
  return made;
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
  { key, values, returning }: { key: Record<string, unknown>; values: Record<string, unknown>; returning: string },
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

type ListsOf<Lists> = { [List in keyof Lists]: NonNullable<Lists[List]>[] };

/**
 * Runs several queries in one statement.
 * @param queries by the name of each list; SQL of the program's own, and always the same text for the same names. All share the same
 * parameters
 * @returns the rows of each query, with values as JSON represents them
 */
export async function readTogether<Lists>(
  db: Db,
  queries: { [List in keyof Lists]: string },
  values: unknown[],
): Promise<ListsOf<Lists>> {
  const lists = Object.entries<string>(queries);
  if (lists.length === 0) return {} as ListsOf<Lists>;
  const { rows } = await db.query<ListsOf<Lists> & pg.QueryResultRow>({
    name: `together-${lists.map(([list]) => list).join('-')}`,
    text: `select * from ${lists
      .map(([list, query]) => `(select coalesce(json_agg(r), '[]') as ${list} from (${query}) r) ${list}`)
      .join(' cross join ')}`,
    values,
  });
  return rows[0] as ListsOf<Lists>;
}

/** Which of some identifiers a table contains. @param table,column the program's own names */
export async function existingIds(
  db: Db,
  { table, column }: { table: string; column: string },
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await db.query<{ id: string }>(`select ${column} as id from ${table} where ${column} = any($1)`, [
    textArray(ids),
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** The next identifier of a kind (`nextIds`). */
export async function nextId(tx: Transaction, kind: Kind): Promise<string> {
  const [id = ''] = await nextIds(tx, kind, 1);
  return id;
}

/** The next identifiers of a kind, in the order of its sequence, such as `CLI000001`. A kind without a sequence gets random UUIDs. */
export async function nextIds(tx: Transaction, kind: Kind | undefined, count: number): Promise<string[]> {
  const prefix = kind && KINDS[kind].prefix;
  if (prefix === undefined) return Array.from({ length: count }, () => randomUUID());
  const { rows } = await tx.query<{ id: string }>({
    name: 'next-ids',
    text: 'select nextval($1::regclass)::text as id from generate_series(1, $2)',
    values: [`${kind}_numbers`, count],
  });
  return rows.map(({ id }) => prefix + id.padStart(6, '0'));
}

/** Which page of a list, from 1. If a client is given, the list is of that client. */
export interface ListRequest {
  page: number;
  pageSize: number;
  clientId?: string | undefined;
}

/** A page of a list, and the total number of entries. The total is undefined if there are too many to count. */
export interface List<R> {
  rows: R[];
  total: number | undefined;
}

/** The most entries that are counted in a list over all clients (docs/operator-interface.md, Lists). */
const MAX_COUNTED_ROWS = 10_000;

/** A condition, in which `?` stands for the value. A filter without a value is ignored. */
export type Filter = readonly [condition: string, value: unknown];

/** The filters that have a value, as the text of a `where` and its values. */
export function whereOf(filters: readonly Filter[]): { where: string; values: unknown[] } {
  const given = filters.filter(([, value]) => value !== undefined);
  const conditions = given.map(([condition], index) => condition.replaceAll('?', `$${index + 1}`));
  return { where: conditions.join(' and ') || 'true', values: given.map(([, value]) => value) };
}

/**
 * A page of rows, and their total number. Without a client, more than 10,000 rows are not counted.
 * @param list SQL of the program's own; `client` is the column that names the client
 */
export async function listRows<R extends pg.QueryResultRow>(
  db: Db,
  list: { select: string; from: string; client?: string; order: string; filters?: readonly Filter[] },
  { page, pageSize, clientId }: ListRequest,
): Promise<List<R>> {
  const { select, from, client, order, filters = [] } = list;
  const { where, values } = whereOf([...(client ? [[`${client} = ?`, clientId] as const] : []), ...filters]);
  const bounded = clientId === undefined;
  const union = bounded ? unionOfCells(db, from) : undefined;
  const [limit, offset] = [`$${values.length + 1}`, `$${values.length + 2}`];
  const { rows } = await db.query<R>(
    union
      ? pageOfUnion(union, { select, from, where, order }, { limit, offset })
      : `select ${select} from ${from} where ${where} order by ${order} limit ${limit} offset ${offset}`,
    [...values, pageSize, (page - 1) * pageSize],
  );
  // Callers return rows unchanged, so the sort columns are removed.
  if (union) for (const row of rows) for (const key of Object.keys(row)) if (SORTING.test(key)) delete row[key];
  return { rows, total: await countRows(db, { from, where, values, bounded }) };
}

/** The columns by which a page over all cells is sorted. */
const SORTING = /^order_\d+$/;

/** A page over all cells. Each cell returns the rows that could be on it. The rows include the sort columns as `order_1` and so on. */
function pageOfUnion(
  union: (select: string) => string,
  { select, from, where, order }: { select: string; from: string; where: string; order: string },
  { limit, offset }: { limit: string; offset: string },
): string {
  const keys = order.split(', ').map((key) => key.split(' '));
  const columns = keys.map(([column], index) => `${column} as order_${index + 1}`).join(', ');
  const outer = keys.map(([, direction = ''], index) => `order_${index + 1} ${direction}`).join(', ');
  const ofCell = `select ${select}, ${columns} from ${from} where ${where} order by ${order} limit ${limit}::int + ${offset}::bigint`;
  return `select * from (${union(ofCell)}) u order by ${outer} limit ${limit}::int offset ${offset}::bigint`;
}

/** The number of rows that match. @param list `bounded`: the result is undefined if more than 10,000 match */
export async function countRows(
  db: Db,
  { from, where, values, bounded }: { from: string; where: string; values: unknown[]; bounded: boolean },
): Promise<number | undefined> {
  const union = unionOfCells(db, from);
  if (union && !bounded) return countInCells(db, union(`select count(*) as n from ${from} where ${where}`), values);
  const matching = union
    ? union(`select 1 from ${from} where ${where} limit ${MAX_COUNTED_ROWS + 1}`)
    : `select from ${from} where ${where}${bounded ? ` limit ${MAX_COUNTED_ROWS + 1}` : ''}`;
  const counted = await db.query<{ total: number }>(`select count(*) as total from (${matching}) m`, values);
  return shownTotal(counted.rows[0]?.total ?? 0, bounded);
}

/** The total number of entries that a list tells. @param bounded whether the list is over all clients */
export function shownTotal(total: number, bounded: boolean): number | undefined {
  return bounded && total > MAX_COUNTED_ROWS ? undefined : total;
}

async function countInCells(db: Db, counts: string, values: unknown[]): Promise<number> {
  const counted = await db.query<{ total: number }>(`select sum(n)::int8 as total from (${counts}) c`, values);
  return counted.rows[0]?.total ?? 0;
}

/** A `like` pattern that finds a text anywhere. Wildcards in the text are escaped. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

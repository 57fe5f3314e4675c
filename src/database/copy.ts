import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { codeOf } from '../values/unknown.ts';
import { isDistributed } from './cells/pool.ts';
import { savepoint, type Transaction } from './database.ts';

/** Characters passed to the connection at once. */
const CHUNK_CHARACTERS = 65_536;
/** The most rows of an INSERT. A message to the server has at most 65,535 values. */
const MAX_INSERTED_ROWS = 500;
/** SQLSTATE of a COPY that a Citus worker refuses, whatever the worker's own reason (internal_error). */
const NO_REASON = 'XX000';

/** The most rows that `writeRows` writes without COPY, which needs two round trips. */
const MAX_ROWS_AT_ONCE = 64;

export type CopyValue = string | number | boolean | Date | Buffer | null | undefined;

/**
 * The columns of a table, each with a function that gives its value for a row. Null and undefined become SQL's null. If `Written` lists the
 * type of each column, a missing column or a value of the wrong type does not compile.
 */
export type Columns<Row, Written = Record<string, CopyValue>> = {
  [Column in keyof Written]: (row: Row) => Written[Column] | (null extends Written[Column] ? undefined : never);
};

/** A way to write rows: `copyRows` or `insertRows`. */
export type WriteRows = <Row>(
  tx: Transaction,
  table: string,
  columns: Columns<Row>,
  rows: readonly Row[],
) => Promise<unknown>;

/**
 * Writes rows: a few with an INSERT, which nobody has to wait for, and many with COPY.
 * @param table, columns as for `copyRows`
 */
export async function writeRows<Row>(
  tx: Transaction,
  table: string,
  columns: Columns<Row>,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length > MAX_ROWS_AT_ONCE) return copyRows(tx, table, columns, rows);
  if (rows.length === 0) return;
  tx.later(insertion(table, columns, rows));
}

/** Writes rows with COPY, which costs the server about half of what INSERT does. @param table, columns the program's own names */
export async function copyRows<Row>(
  tx: Transaction,
  table: string,
  columns: Columns<Row>,
  rows: readonly Row[],
): Promise<void> {
  if (!isDistributed(tx)) return copy(tx, table, columns, rows);
  try {
    await savepoint(tx, () => copy(tx, table, columns, rows));
  } catch (error) {
    if (codeOf(error) !== NO_REASON) throw error;
    await insertRows(tx, table, columns, rows);
  }
}

async function copy<Row>(tx: Transaction, table: string, columns: Columns<Row>, rows: readonly Row[]): Promise<void> {
  const target = await tx.startCopy(copyFrom(`copy ${table} (${Object.keys(columns).join(', ')}) from stdin`));
  await pipeline(Readable.from(chunks(Object.values(columns), rows), { objectMode: true, highWaterMark: 2 }), target);
}

/**
 * Writes rows with INSERT. Unlike COPY, it gives up if the database does not answer, and it can return what the database has generated.
 * Citus also passes on why a worker refuses a row, so an import can refuse that line, or retry after a deadlock. It uses `values`, because
 * Citus turns `insert ... select` into a COPY. A single row uses a prepared statement.
 * @param returning the columns to return for each row
 */
export async function insertRows<Row, R extends pg.QueryResultRow = pg.QueryResultRow>(
  tx: Transaction,
  table: string,
  columns: Columns<Row>,
  rows: readonly Row[],
  returning?: string,
): Promise<R[]> {
  const written: R[] = [];
  for (let from = 0; from < rows.length; from += MAX_INSERTED_ROWS) {
    const some = rows.slice(from, from + MAX_INSERTED_ROWS);
    written.push(...(await tx.query<R>(insertion(table, columns, some, returning))).rows);
  }
  return written;
}

function insertion<Row>(
  table: string,
  columns: Columns<Row>,
  rows: readonly Row[],
  returning?: string,
): pg.QueryConfig {
  const names = Object.keys(columns);
  const places = rows.map(
    (_row, at) => `(${names.map((_name, index) => `$${at * names.length + index + 1}`).join(', ')})`,
  );
  const wanted = returning === undefined ? '' : ` returning ${returning}`;
  return {
    ...(rows.length === 1 && { name: `${table}-insert${wanted}` }),
    text: `insert into ${table} (${names.join(', ')}) values ${places.join(', ')}${wanted}`,
    values: rows.flatMap((row) => Object.values(columns).map((value) => textOf(value(row)))),
  };
}

function* chunks<Row>(values: ((row: Row) => CopyValue)[], rows: Iterable<Row>): Generator<Buffer> {
  const fields = values.map(() => '');
  let lines: string[] = [];
  let characters = 0;
  for (const row of rows) {
    for (let index = 0; index < values.length; index += 1) fields[index] = field(values[index]?.(row));
    // Joined in one step. A text that grows field by field leaves garbage for each field.
    const line = fields.join('\t');
    lines.push(line);
    characters += line.length;
    if (characters < CHUNK_CHARACTERS) continue;
    yield chunk(lines);
    lines = [];
    characters = 0;
  }
  if (lines.length > 0) yield chunk(lines);
}

function chunk(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\n')}\n`);
}

const SPECIAL = /[\\\n\r\t]/;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A value in COPY's text format. */
function field(value: CopyValue): string {
  if (typeof value === 'string')
    return SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? '') : value;
  if (Buffer.isBuffer(value)) return `\\${textOf(value)}`;
  return textOf(value) ?? '\\N';
}

/** A value in the text form of its type; null stands for SQL's null. */
function textOf(value: CopyValue): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return typeof value === 'boolean' ? (value ? 't' : 'f') : String(value);
}

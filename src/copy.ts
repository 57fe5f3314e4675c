import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Transaction } from './database.ts';

/** Characters handed to the connection at once. */
const CHUNK_CHARACTERS = 65_536;

export type CopyValue = string | number | boolean | Date | Buffer | null | undefined;

/**
 * The columns of a table, each with its value of a row; null and undefined are SQL's null.
 * With `Written`, a record by column, a missing column or a value of the wrong type does not compile.
 */
export type Columns<Row, Written = Record<string, CopyValue>> = {
  [Column in keyof Written]: (row: Row) => Written[Column] | (null extends Written[Column] ? undefined : never);
};

/** Writes rows with COPY, which costs the server about half of what INSERT does. @param table, columns the program's own names */
export async function copyRows<Row>(
  tx: Transaction,
  table: string,
  columns: Columns<Row>,
  rows: Iterable<Row>,
): Promise<void> {
  const target = tx.query(copyFrom(`copy ${table} (${Object.keys(columns).join(', ')}) from stdin`));
  await pipeline(Readable.from(chunks(Object.values(columns), rows), { objectMode: true, highWaterMark: 2 }), target);
}

function* chunks<Row>(values: ((row: Row) => CopyValue)[], rows: Iterable<Row>): Generator<Buffer> {
  const fields = values.map(() => '');
  let lines: string[] = [];
  let characters = 0;
  for (const row of rows) {
    for (let index = 0; index < values.length; index += 1) fields[index] = field(values[index]?.(row));
    // Joined at once: a text that grows field by field leaves a piece of garbage for each.
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
  if (value === null || value === undefined) return '\\N';
  if (typeof value === 'string')
    return SPECIAL.test(value) ? value.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? '') : value;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`;
  return typeof value === 'boolean' ? (value ? 't' : 'f') : String(value);
}

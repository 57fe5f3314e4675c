import type { BankTable } from '../../beneficiaries/bank-table.ts';
import { OpenQuote, readCsv } from '../../values/csv.ts';
import { Problem } from '../../values/errors.ts';
import { type Instruction, ROW_FIELDS, readRows } from '../instructions/row.ts';
import { MAX_ROWS } from './declaration.ts';

const KNOWN: readonly string[] = ROW_FIELDS;

/**
 * The instructions of a CSV (RFC 4180) whose first row names its columns. An empty cell is left out. A row with another number of cells has
 * that as its fault; what it has beyond the header is left out.
 * @throws Problem invalid_body where the text is no CSV, the header has an unknown or a repeated name, or there are too many rows
 */
export function instructionsOfCsv(text: string, table: BankTable): Instruction[] {
  const refuse = (message: string) => new Problem('invalid_body', `body: ${message}`);
  const rows: string[][] = [];
  let header: string[] | undefined;
  try {
    for (const { cells } of readCsv(text)) {
      if (!header) header = cells;
      else rows.push(cells);
      if (rows.length > MAX_ROWS) throw refuse(`must have 1 to ${MAX_ROWS} rows behind its header`);
    }
  } catch (error) {
    if (error instanceof OpenQuote) throw refuse(error.message);
    throw error;
  }
  for (const [index, name] of (header ?? []).entries()) {
    if (!KNOWN.includes(name))
      throw refuse(`the header has "${name.slice(0, 64)}", which is no field of an instruction`);
    if (header?.indexOf(name) !== index) throw refuse(`the header has ${name} twice`);
  }
  if (!header || rows.length === 0) throw refuse(`must have a header and 1 to ${MAX_ROWS} rows behind it`);
  const names = header;
  const objects = rows.map((cells) =>
    Object.fromEntries(names.flatMap((name, place) => (cells[place] ? [[name, cells[place]]] : []))),
  );
  const read = readRows(undefined, objects, { table, texts: true });
  for (const row of read) {
    const { length } = rows[row.index] as string[];
    if (length === names.length) continue;
    const message = `the row has ${length} cells, and the header ${names.length}`;
    row.faults.unshift({ field: '', code: 'invalid_format', message });
  }
  return read;
}

import { type CsvRow, OpenQuote, readCsv } from '../values/csv.ts';
import { Problem } from '../values/errors.ts';
import { MAX_ROWS, type RowFault } from './rows.ts';
import { inTurns, Turn } from './turns.ts';

/** The rows of a CSV, and their faults. */
export interface CsvRows {
  /** The cells by the name of their column. An empty cell is left out. */
  rows: Record<string, string>[];
  /** What is wrong with a row as a whole, by its index. */
  faults: ReadonlyMap<number, RowFault>;
}

/**
 * The name of a column in a refusal. A misspelt name is repeated. Anything else is not: a file without a header has a payee and an account
 * in its place.
 */
function columnOf(name: string, index: number): string {
  return /^[a-z_]{1,64}$/.test(name) ? `the header has "${name}"` : `the header has a column ${index + 1}`;
}

/**
 * Reads a CSV (RFC 4180) whose first row names its columns. A row with the wrong number of cells gets that as its fault; cells beyond the
 * header are dropped.
 * @param known the names that columns may have
 * @param what the columns describe, such as `an instruction`
 * @throws Problem invalid_body if the text is not a CSV, the header has an unknown or a repeated name, or there are too many rows
 */
export async function rowsOfCsv(text: string, known: readonly string[], what: string): Promise<CsvRows> {
  const refuse = (message: string) => new Problem('invalid_body', `body: ${message}`);
  const lines: CsvRow[] = [];
  let header: CsvRow | undefined;
  const turn = new Turn();
  try {
    for (const row of readCsv(text)) {
      if (turn.isOver) await turn.next();
      if (!header) header = row;
      else lines.push(row);
      if (lines.length > MAX_ROWS) throw refuse(`must have 1 to ${MAX_ROWS} rows behind its header`);
    }
  } catch (error) {
    if (error instanceof OpenQuote) throw refuse(error.message);
    throw error;
  }
  const { cells: names, count }: CsvRow = header ?? { line: 1, cells: [], count: 0 };
  for (const [index, name] of names.entries()) {
    if (!known.includes(name)) throw refuse(`${columnOf(name, index)}, which is not a field of ${what}`);
    if (names.indexOf(name) !== index) throw refuse(`the header has ${name} twice`);
  }
  if (lines.length === 0) throw refuse(`must have a header and 1 to ${MAX_ROWS} rows behind it`);
  const rows = await inTurns(lines, (some) =>
    some.map(({ cells }) =>
      Object.fromEntries(names.flatMap((name, place) => (cells[place] ? [[name, cells[place]]] : []))),
    ),
  );
  const faults = new Map(
    lines.flatMap((row, index) => {
      if (row.count === count) return [];
      const message = `the row has ${row.count} cells, and the header ${count}`;
      return [[index, { field: '', code: 'invalid_format', message } satisfies RowFault] as const];
    }),
  );
  return { rows, faults };
}

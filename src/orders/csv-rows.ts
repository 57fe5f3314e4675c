import { type CsvRow, isEmptyLine, OpenQuote, readCsv } from '../values/csv.ts';
import { Problem } from '../values/errors.ts';
import { MAX_ROWS, type RowFault } from './rows.ts';
import { inTurns, Turn } from './turns.ts';

/** The lines behind the header, empty ones too, after which a CSV is refused. */
const MAX_LINES = 2 * MAX_ROWS;

/** A row below the header of a CSV. */
export interface FileRow {
  /** Its place below the header, from 0. An empty line has a place too, so that the places are those that a person sees in the file. */
  index: number;
  /** The cells by the name of their column. An empty cell is left out. */
  cells: Record<string, string>;
  /** What is wrong with the row as a whole. */
  faults: RowFault[];
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
 * header are dropped. Empty lines are skipped.
 * @param known the names that columns may have
 * @param what the columns describe, such as `an instruction`
 * @throws Problem invalid_body if the text is not a CSV, the header has an unknown or a repeated name, or there are too many rows or lines
 */
export async function rowsOfCsv(text: string, known: readonly string[], what: string): Promise<FileRow[]> {
  const refuse = (message: string) => new Problem('invalid_body', `body: ${message}`);
  const lines: [index: number, row: CsvRow][] = [];
  let header: CsvRow | undefined;
  let index = 0;
  const turn = new Turn();
  try {
    for (const row of readCsv(text)) {
      if (turn.isOver) await turn.next();
      if (!header) header = row;
      else {
        if (!isEmptyLine(row)) lines.push([index, row]);
        index += 1;
      }
      if (lines.length > MAX_ROWS) throw refuse(`must have 1 to ${MAX_ROWS} rows behind its header`);
      if (index > MAX_LINES)
        throw refuse(`must have at most ${MAX_LINES} lines behind its header, empty ones included`);
    }
  } catch (error) {
    if (error instanceof OpenQuote) throw refuse(error.message);
    throw error;
  }
  const { cells: names, count }: CsvRow = header ?? { line: 1, cells: [], count: 0 };
  for (const [column, name] of names.entries()) {
    if (!known.includes(name)) throw refuse(`${columnOf(name, column)}, which is not a field of ${what}`);
    if (names.indexOf(name) !== column) throw refuse(`the header has ${name} twice`);
  }
  if (lines.length === 0) throw refuse(`must have a header and 1 to ${MAX_ROWS} rows behind it`);
  return inTurns(lines, (some) =>
    some.map(([place, row]) => ({
      index: place,
      cells: Object.fromEntries(
        names.flatMap((name, column) => (row.cells[column] ? [[name, row.cells[column]]] : [])),
      ),
      faults: row.count === count ? [] : [wrongCount(row.count, count)],
    })),
  );
}

function wrongCount(count: number, expected: number): RowFault {
  return { field: '', code: 'invalid_format', message: `the row has ${count} cells, and the header ${expected}` };
}

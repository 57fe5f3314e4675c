/** A row of a CSV file. */
export interface CsvRow {
  /** Where it begins, from 1. */
  line: number;
  cells: string[];
}

/** A cell in quotes that never ends, or goes on behind them. */
export class OpenQuote extends Error {
  override readonly name = 'OpenQuote';
  readonly line: number;

  /** @param line where the cell begins */
  constructor(line: number) {
    super(`line ${line}: a cell in quotes must end with them`);
    this.line = line;
  }
}

/** A cell in quotes, or one without, and what ends it: a comma, the end of a line or of the text. */
const CELL = /(?:"([^"]*(?:""[^"]*)*)"|(?!")([^,\r\n]*))(,|\r\n|\n|\r|$)/y;

/**
 * The rows of a CSV text (RFC 4180, with commas), the header too. A byte order mark is skipped, and so is the end of the last line. Quotes
 * within a cell that does not begin with one stand for themselves.
 * @throws OpenQuote
 */
export function* readCsv(text: string): Generator<CsvRow> {
  const cell = new RegExp(CELL);
  cell.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  while (cell.lastIndex < text.length) {
    const row: CsvRow = { line, cells: [] };
    for (let end = ','; end === ','; ) {
      const found = cell.exec(text);
      if (!found) throw new OpenQuote(line);
      const [, quoted, plain = ''] = found;
      end = found[3] as string;
      row.cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
      line += linesIn(found[0]);
    }
    yield row;
  }
}

function linesIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

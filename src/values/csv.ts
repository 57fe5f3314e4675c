/** The number of cells kept per row. A row with more is not a valid record; its other cells are only counted. */
const MAX_CELLS = 256;

/** A row of a CSV file. */
export interface CsvRow {
  /** The line where it begins, from 1. */
  line: number;
  /** The first MAX_CELLS cells. */
  cells: string[];
  /** The number of all cells. */
  count: number;
}

/** Whether a row is an empty line, or has only blanks. Readers skip it. */
export function isEmptyLine({ cells, count }: CsvRow): boolean {
  return count === 1 && cells[0]?.trim() === '';
}

/** A quoted cell that never ends, or that has text after its closing quote. */
export class OpenQuote extends Error {
  override readonly name = 'OpenQuote';
  readonly line: number;

  /** @param line where the cell begins */
  constructor(line: number) {
    super(`line ${line}: a cell in quotes must end with them`);
    this.line = line;
  }
}

const COMMA = 44;
const LF = 10;
const CR = 13;

/**
 * Reads the rows of a CSV text (RFC 4180, with commas), including the header. It skips a byte order mark and the end of the last line.
 * Quotes within a cell that does not begin with a quote are read literally.
 * @throws OpenQuote
 */
export function* readCsv(text: string): Generator<CsvRow> {
  let at = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const row: CsvRow = { line, cells: [], count: 0 };
    for (let goesOn = true; goesOn; ) {
      const from = at;
      const quoted = text[at] === '"';
      at = quoted ? endOfQuoted(text, at) : endOfPlain(text, at);
      if (at < 0 || (quoted && endOfPlain(text, at) > at)) throw new OpenQuote(line);
      if (row.count < MAX_CELLS)
        row.cells.push(
          quoted
            ? text
                .slice(from + 1, at - 1)
                .split('""')
                .join('"')
            : text.slice(from, at),
        );
      row.count += 1;
      goesOn = text.charCodeAt(at) === COMMA;
      const end = at + (text.startsWith('\r\n', at) ? 2 : 1);
      if (quoted || !goesOn) line += linesIn(text, from, end);
      at = end;
    }
    yield row;
  }
}

/** The position after the quote that ends a cell; -1 if there is no such quote. A quote within the cell is written twice. */
function endOfQuoted(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at + 1;
  return -1;
}

/** The end of an unquoted cell: a comma, the end of the line or the end of the text. */
function endOfPlain(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === LF || code === CR) return at;
  }
  return text.length;
}

/** The number of line ends between two positions. */
function linesIn(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = from; at < to && at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CR || (code === LF && (at === from || text.charCodeAt(at - 1) !== CR))) lines += 1;
  }
  return lines;
}

/** A row of a CSV file. */
export interface CsvRow {
  /** The line where it begins, from 1. */
  line: number;
  cells: string[];
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

/**
 * Reads the rows of a CSV text (RFC 4180, with commas), including the header. It skips a byte order mark and the end of the last line.
 * Quotes within a cell that does not begin with a quote are read literally.
 * @throws OpenQuote
 */
export function* readCsv(text: string): Generator<CsvRow> {
  const plain = /[^,\r\n]*/y;
  const ending = /,|\r\n|\n|\r|$/y;
  let at = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const row: CsvRow = { line, cells: [] };
    for (let end = ','; end === ','; ) {
      const from = at;
      const quoted = text[at] === '"';
      plain.lastIndex = at;
      at = quoted ? endOfQuoted(text, at) : at + (plain.exec(text)?.[0].length ?? 0);
      row.cells.push(quoted ? text.slice(from + 1, at - 1).replaceAll('""', '"') : text.slice(from, at));
      ending.lastIndex = at;
      const found = at < 0 ? undefined : ending.exec(text);
      if (!found) throw new OpenQuote(line);
      [end] = found;
      at += end.length;
      line += linesIn(text.slice(from, at));
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

function linesIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

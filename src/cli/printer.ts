import { decimal, stringify } from '../../sdk/src/index.ts';

/** A column of a table: its heading, and a function that returns a row's text. */
export type Column<T> = [heading: string, text: (row: T) => unknown];

/** The most characters of a cell on a terminal; longer cells are cut. In a file or a pipe nothing is cut. */
const MAX_CELL_CHARACTERS = 48;

/** Writes the results of a command: tables for people, JSON for programs (`--json`). */
export class Printer {
  readonly json: boolean;

  constructor(json: boolean) {
    this.json = json;
  }

  /**
   * Records of one kind: a table, or a JSON array.
   * @param options `after`: a line for people below the table; `whole`: long cells are not cut even on a terminal
   */
  rows<T>(
    rows: readonly T[],
    columns: readonly Column<T>[],
    { after, whole = !process.stdout.isTTY }: { after?: string; whole?: boolean } = {},
  ): void {
    if (this.json) {
      write(stringify(rows));
      return;
    }
    const cells = rows.map((row) => columns.map(([, text]) => (whole ? plain(text(row)) : cell(text(row)))));
    const headings = columns.map(([heading]) => heading);
    const widths = headings.map((heading, at) => Math.max(heading.length, ...cells.map((row) => row[at]?.length ?? 0)));
    const line = (row: readonly string[]) =>
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd();
    write(line(headings));
    for (const row of cells) write(line(row));
    if (after !== undefined) write(after);
  }

  /** A single record: a line for each of its fields, or its JSON. */
  record(record: object): void {
    if (this.json) {
      write(stringify(record));
      return;
    }
    const fields = Object.entries(record);
    const width = Math.max(0, ...fields.map(([name]) => name.length));
    for (const [name, value] of fields) {
      const text = typeof value === 'number' ? decimal(record as Record<string, number>, name) : plain(value);
      write(`${name.padEnd(width)}  ${text}`.trimEnd());
    }
  }

  /** A completed action: a sentence for people, JSON for programs. */
  done(sentence: string, json: object): void {
    write(this.json ? stringify(json) : sentence);
  }

  /** One entry of an ongoing output: a line, or a line of NDJSON. */
  entry(line: string, json: object): void {
    write(this.json ? stringify(json) : line);
  }

  /** A line that is only for people. */
  note(line: string): void {
    if (!this.json) write(line);
  }
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return printable(typeof value === 'object' ? stringify(value) : String(value));
}

function cell(value: unknown): string {
  const text = plain(value);
  return text.length > MAX_CELL_CHARACTERS ? `${text.slice(0, MAX_CELL_CHARACTERS - 1)}…` : text;
}

/** Removes what could control the terminal, or change the direction of writing, from a foreign text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

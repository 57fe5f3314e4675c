import { decimal, stringify } from '../../sdk/src/index.ts';

/** A column of a table: its heading, and the text of a row. */
export type Column<T> = [heading: string, text: (row: T) => unknown];

/** Characters of a cell on a terminal; longer ones are cut. In a file or a pipe nothing is. */
const MAX_CELL_CHARACTERS = 48;

/** Writes what a command found: tables for people, JSON for programs (`--json`). */
export class Printer {
  readonly json: boolean;

  constructor(json: boolean) {
    this.json = json;
  }

  /**
   * Records of one kind: a table, or a JSON array.
   * @param options `after`: a line for people below the table; `whole`: long cells are not cut on a terminal either
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

  /** One record: a line for each of its fields, or its JSON. */
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

  /** What was done: a sentence for people, the JSON for programs. */
  done(sentence: string, json: object): void {
    write(this.json ? stringify(json) : sentence);
  }

  /** One entry of something that goes on: a line, or a line of NDJSON. */
  entry(line: string, json: object): void {
    write(this.json ? stringify(json) : line);
  }

  /** A line that only people need. */
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

/** Text from elsewhere must not steer the terminal, nor turn the direction of writing. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

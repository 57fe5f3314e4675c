import type { Transaction } from '../database.ts';
import { sum } from '../money.ts';
import type { Line, Tally } from './line.ts';

/** Changes of one row of the table: a reader takes a row as a whole. */
const MAX_CHANGES_OF_ROW = 250;
/** Bytes from which on a row is full. */
const MAX_ROW_BYTES = 262_144;
/** Bytes that the changes of most transactions take. */
const SMALL_ROW_BYTES = 8_192;
const NEWLINE = 0x0a;
const CLOSING_BRACE = 0x7d;

const ROW_COLUMNS = 'batch, place, changes, client_ids, entities, body';
const ROW_TYPES = 'int, int, text[], text[], text';
const TALLY_COLUMNS = 'at, client_id, tally, currency, count, sum';
const TALLY_TYPES = 'text[], text[], text[], int[], numeric[]';

/** Parameters from a number on, each with its type. */
function parameters(types: string, from: number): string {
  return types
    .split(', ')
    .map((type, index) => `$${from + index}::${type}`)
    .join(', ');
}

/** Takes the number of the transaction and writes its first row, which is most often the only one. */
const OPEN = 'with taken as (insert into changes_unpublished (changes, at) values ($1, $2) returning batch)';
const FIRST_ROW = `insert into changes (${ROW_COLUMNS}) select batch, ${parameters(ROW_TYPES, 3)} from taken returning batch`;
const FURTHER_ROW = `insert into changes (${ROW_COLUMNS}) values ($1, ${parameters(ROW_TYPES, 2)})`;
const tallyRows = (at: string, from: number) =>
  `insert into change_tallies (${TALLY_COLUMNS}) select ${at}::timestamptz, * from unnest(${parameters(TALLY_TYPES, from)})`;
const ONLY_ROW = `${OPEN}, tallied as (${tallyRows('$2', 8)}) ${FIRST_ROW}`;

/**
 * The changes of a transaction on their way into the database: rows of some hundred lines, and what the reconciliation counts. Lines are
 * copied into a buffer at once: thousands of texts that wait would cost the garbage collector more than writing them. While the database
 * stores a row the next one is made.
 */
export class Batch {
  readonly #tx: Transaction;
  readonly #at: Date;
  /** How many changes the transaction has. */
  readonly #changes: number;
  readonly #tallies = new Map<string, Tally & { count: number }>();
  #number: number | undefined;
  #place = 0;
  #lines = 0;
  #clients = new Set<string>();
  #entities = new Set<string>();
  #body = Buffer.allocUnsafe(SMALL_ROW_BYTES);
  #bytes = 0;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(tx: Transaction, at: Date, changes: number) {
    this.#tx = tx;
    this.#at = at;
    this.#changes = changes;
  }

  /** Takes the next lines, and waits only where a row is full. */
  async add(lines: Iterable<Line>): Promise<void> {
    for (const line of lines) {
      if (this.#lines === MAX_CHANGES_OF_ROW || this.#bytes >= MAX_ROW_BYTES) await this.#writeRow();
      this.#append(line);
      this.#lines += 1;
      this.#entities.add(line.entity);
      for (const client of line.clients) this.#clients.add(client);
      if (line.tally) this.#count(line.tally);
    }
  }

  /** Writes what is left. */
  async end(): Promise<void> {
    const tallies = this.#takeTallies();
    if (this.#number === undefined && tallies) {
      const values = [this.#changes, this.#at, ...this.#takeRow(), ...tallies];
      await this.#tx.query({ name: 'changes-tallied', text: ONLY_ROW, values });
      return;
    }
    await this.#writeRow();
    await this.#writing;
    if (tallies)
      await this.#tx.query({ name: 'change-tallies', text: tallyRows('$1', 2), values: [this.#at, ...tallies] });
  }

  #append({ head, record }: Line): void {
    // A character takes three bytes at most.
    const most = this.#bytes + (head.length + record.length) * 3 + 2;
    if (most > this.#body.length) {
      const larger = Buffer.allocUnsafe(Math.max(most, Math.min(this.#body.length * 4, MAX_ROW_BYTES * 2)));
      this.#body.copy(larger, 0, 0, this.#bytes);
      this.#body = larger;
    }
    if (this.#lines > 0) this.#bytes = this.#body.writeUInt8(NEWLINE, this.#bytes);
    this.#bytes += this.#body.write(head, this.#bytes);
    this.#bytes += this.#body.write(record, this.#bytes);
    this.#bytes = this.#body.writeUInt8(CLOSING_BRACE, this.#bytes);
  }

  #count(tally: Tally): void {
    const key = `${tally.clientId}\0${tally.tally}\0${tally.currency}`;
    const known = this.#tallies.get(key);
    if (known) {
      known.count += 1;
      known.amount = sum(known.amount, tally.amount);
    } else this.#tallies.set(key, { ...tally, count: 1 });
  }

  /** Returns when the row before has been written. */
  async #writeRow(): Promise<void> {
    await this.#writing;
    if (this.#number !== undefined) {
      const values = [this.#number, ...this.#takeRow()];
      this.#writing = this.#tx.query({ name: 'changes-row', text: FURTHER_ROW, values });
      // The code that waits for it meets its failure; until then it must not count as unhandled.
      this.#writing.catch(() => {});
      return;
    }
    const values = [this.#changes, this.#at, ...this.#takeRow()];
    const { rows } = await this.#tx.query<{ batch: number }>({ name: 'changes', text: `${OPEN} ${FIRST_ROW}`, values });
    this.#number = rows[0]?.batch;
  }

  /** The values of ROW_TYPES. The driver copies the body before it returns, so that its buffer can be used again. */
  #takeRow(): unknown[] {
    const body = this.#body.subarray(0, this.#bytes);
    const row = [this.#place, this.#lines, [...this.#clients], [...this.#entities], body];
    this.#place += this.#lines;
    this.#lines = 0;
    this.#bytes = 0;
    this.#clients.clear();
    this.#entities.clear();
    return row;
  }

  /** The values of TALLY_TYPES; undefined where nothing is counted. */
  #takeTallies(): unknown[] | undefined {
    const tallies = [...this.#tallies.values()];
    if (tallies.length === 0) return undefined;
    const values = (of: (tally: Tally & { count: number }) => unknown) => tallies.map(of);
    return [
      values(({ clientId }) => clientId),
      values(({ tally }) => tally),
      values(({ currency }) => currency),
      values(({ count }) => count),
      values(({ amount }) => amount),
    ];
  }
}

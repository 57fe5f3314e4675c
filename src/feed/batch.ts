import type { QueryConfig } from 'pg';
import { isDistributed } from '../database/cells/pool.ts';
import type { Transaction } from '../database/database.ts';
import { sum } from '../values/money.ts';
import { present } from '../values/unknown.ts';
import type { Line, Tally } from './line.ts';

/** The most changes in one row of the table. A reader takes whole rows. */
const MAX_CHANGES_OF_ROW = 250;
/** A row with this many bytes is full. */
const MAX_ROW_BYTES = 262_144;
/** The bytes that are enough for the changes of most transactions. */
const SMALL_ROW_BYTES = 8_192;
const NEWLINE = 0x0a;
const CLOSING_BRACE = 0x7d;

const ROW_COLUMNS = 'batch, place, changes, client_ids, entities, body';
const ROW_TYPES = 'int, int, text[], text[], text';
const TALLY_COLUMNS = 'at, client_id, tally, currency, count, sum';
const TALLY_TYPES = 'text[], text[], text[], int[], numeric[]';
const TALLY_TYPE = 'text, text, text, int, numeric';

/** SQL parameters with their types, numbered from `from`. */
function parameters(types: string, from: number): string {
  return types
    .split(', ')
    .map((type, index) => `$${from + index}::${type}`)
    .join(', ');
}

/** Takes the number of the transaction and writes its first row, which is usually the only one. */
const TAKE = 'insert into changes_unpublished (changes, at) values ($1, $2) returning batch';
const OPEN = `with taken as (${TAKE})`;
const FIRST_ROW = `insert into changes (${ROW_COLUMNS}) select batch, ${parameters(ROW_TYPES, 3)} from taken returning batch`;
const FURTHER_ROW = `insert into changes (${ROW_COLUMNS}) values ($1, ${parameters(ROW_TYPES, 2)})`;
const tallyRows = (at: string, from: number) =>
  `insert into change_tallies (${TALLY_COLUMNS}) select ${at}::timestamptz, * from unnest(${parameters(TALLY_TYPES, from)})`;
const TALLY_ROW = `insert into change_tallies (${TALLY_COLUMNS}) values ($2::timestamptz, ${parameters(TALLY_TYPE, 8)})`;
const onlyRow = (tallied: string) => `${OPEN}, tallied as (${tallied}) ${FIRST_ROW}`;
/** For one tally, as most transactions have. Lists would take as long as all three rows. */
const COUNTED = { name: 'changes-counted', text: onlyRow(TALLY_ROW) };
const TALLIED = { name: 'changes-tallied', text: onlyRow(tallyRows('$2', 8)) };

/** A tally of equal changes. */
interface Counted extends Tally {
  count: number;
}

/**
 * The changes of a transaction on their way into the database: rows of some hundred lines each, and what the reconciliation counts. Lines
 * are copied into a buffer at once, because thousands of waiting texts would cost the garbage collector more than writing them. While the
 * database stores a row, the next one is built.
 */
export class Batch {
  readonly #tx: Transaction;
  readonly #at: Date;
  /** The number of changes in the transaction. */
  readonly #changes: number;
  readonly #tallies = new Map<string, Counted>();
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

  /** Takes the next lines. It waits only if a row is full. */
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

  /** Writes what is left, except for the last statement. @returns the last statement */
  async end(): Promise<QueryConfig> {
    const tallies = [...this.#tallies.values()];
    if (isDistributed(this.#tx)) await this.#takeNumber();
    if (tallies.length === 0) {
      await this.#writing;
      return this.#rowStatement();
    }
    if (this.#number === undefined) {
      const [only] = tallies;
      const counted = tallies.length === 1 && only ? valuesOf(only) : listsOf(tallies);
      const values = [this.#changes, this.#at, ...this.#takeRow(), ...counted];
      return { ...(tallies.length === 1 ? COUNTED : TALLIED), values };
    }
    await this.#writeRow();
    await this.#writing;
    return { name: 'change-tallies', text: tallyRows('$1', 2), values: [this.#at, ...listsOf(tallies)] };
  }

  /** Writes everything that is left. @returns the number of the transaction, and of its changes */
  async endWithNumber(): Promise<{ batch: number; changes: number }> {
    await this.#takeNumber();
    await this.#tx.query(await this.end());
    return { batch: present(this.#number), changes: this.#changes };
  }

  #append({ head, record }: Line): void {
    // A character takes at most three bytes.
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

  /** Starts writing a row once the previous one has been written. */
  async #writeRow(): Promise<void> {
    await this.#writing;
    if (isDistributed(this.#tx)) await this.#takeNumber();
    const written = this.#tx.query<{ batch: number }>(this.#rowStatement());
    if (this.#number === undefined) {
      this.#number = (await written).rows[0]?.batch;
      return;
    }
    this.#writing = written;
    // The code that awaits it handles its failure. Until then it must not count as unhandled.
    written.catch(() => {});
  }

  /** The statement for the next row. The first row comes with the number of the transaction. */
  #rowStatement(): QueryConfig {
    return this.#number === undefined
      ? { name: 'changes', text: `${OPEN} ${FIRST_ROW}`, values: [this.#changes, this.#at, ...this.#takeRow()] }
      : { name: 'changes-row', text: FURTHER_ROW, values: [this.#number, ...this.#takeRow()] };
  }

  /** Takes the number of the transaction before its first row, because Citus would plan both together in parts. */
  async #takeNumber(): Promise<void> {
    if (this.#number !== undefined) return;
    const values = [this.#changes, this.#at];
    const { rows } = await this.#tx.query<{ batch: number }>({ name: 'changes-take', text: TAKE, values });
    this.#number = rows[0]?.batch;
  }

  /** The values of ROW_TYPES. The driver copies the body before it returns, so the buffer can be reused. */
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
}

/** The values of TALLY_TYPE. */
function valuesOf({ clientId, tally, currency, count, amount }: Counted): unknown[] {
  return [clientId, tally, currency, count, amount];
}

/** The values of TALLY_TYPES. */
function listsOf(tallies: readonly Counted[]): unknown[] {
  const rows = tallies.map(valuesOf);
  return TALLY_TYPES.split(', ').map((_, index) => rows.map((row) => row[index]));
}

import { Counter } from 'prom-client';
import type { Db, Pool } from '../database/database.ts';
import { databaseFault } from '../database/fault.ts';
import type { Logger } from '../process/log.ts';
import { metrics } from '../process/metrics.ts';
import { Periodic } from '../process/periodic.ts';
import { type Clock, monotonic } from '../values/calendar.ts';

/** The most entries that a process keeps in a minute (docs/operator-interface.md, Find out what happened). Others are only counted. */
const MAX_ENTRIES_PER_MINUTE = 1_000;
const MINUTE_MS = 60_000;
/** The most entries that wait while the database is away. People will look for exactly what was refused then. */
const MAX_WAITING_ENTRIES = 5_000;
/** Milliseconds between two writes under load. Otherwise an entry is written at once. */
const WRITE_INTERVAL_MS = 500;
/** With this many entries in one write, a process counts as under load. */
const MIN_LOAD_ENTRIES = 50;
/** The number of entries that one statement deletes. */
const MAX_DELETED_ROWS = 10_000;

const dropped = new Counter({
  name: 'lombard_journal_entries_dropped_total',
  help: 'Entries of a journal (refused_requests, sign_in_attempts) that were not kept',
  labelNames: ['journal'],
  registers: [metrics],
});

export interface JournalOptions {
  /** The table to write. */
  table: string;
  /** A statement that writes entries as rows. Its only parameter is a JSON array of them. */
  insert: string;
  pool: Pool;
  clock: Clock;
  log: Logger;
}

/**
 * A record of what happened at the edge of the service. It never delays the requests: entries are written in batches, a process keeps a
 * bounded number of them, and a metric counts the rest.
 */
export class Journal<Entry extends object> {
  readonly #options: JournalOptions;
  readonly #periodic: Periodic;
  #waiting: (Entry & { at: Date })[] = [];
  #minute = { began: Number.NEGATIVE_INFINITY, entries: 0 };
  #loaded = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: JournalOptions) {
    const { table, log } = options;
    this.#options = options;
    this.#periodic = new Periodic({
      name: table.replaceAll('_', ' '),
      intervalMs: WRITE_INTERVAL_MS,
      log,
      run: () => this.write(),
    });
    dropped.inc({ journal: table }, 0);
  }

  start(): void {
    this.#periodic.start();
  }

  /** Writes the waiting entries. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
    await this.write().catch(() => {});
  }

  /** Records what has just happened. */
  note(entry: Entry): void {
    if (!this.#admits()) return void dropped.inc({ journal: this.#options.table });
    this.#waiting.push({ at: this.#options.clock.now(), ...entry });
    if (!this.#loaded) this.#periodic.wake();
  }

  /** Writes the waiting entries. A reader calls it first, so it finds what this process has just answered. */
  write(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#writeAll());
    return this.#writing;
  }

  #admits(): boolean {
    const now = monotonic();
    if (now - this.#minute.began >= MINUTE_MS) this.#minute = { began: now, entries: 0 };
    this.#minute.entries += 1;
    return this.#minute.entries <= MAX_ENTRIES_PER_MINUTE;
  }

  async #writeAll(): Promise<void> {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    const { table, insert, pool } = this.#options;
    this.#waiting = [];
    this.#loaded = batch.length >= MIN_LOAD_ENTRIES;
    try {
      await pool.query(insert, [JSON.stringify(batch, (_name, value) => storable(value))]);
    } catch (error) {
      // Entries that the database will never accept would keep all later ones from being written.
      const lasting = databaseFault(error) === undefined;
      const again = lasting ? this.#waiting : [...batch, ...this.#waiting];
      this.#waiting = again.slice(-MAX_WAITING_ENTRIES);
      dropped.inc({ journal: table }, again.length - this.#waiting.length + (lasting ? batch.length : 0));
      throw error;
    }
  }
}

/** Replaces what PostgreSQL's texts cannot hold (text.ts) in texts from callers. */
function storable(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
}

/** Deletes a journal's entries from before a moment. */
export async function clearJournal(db: Db, table: string, before: Date): Promise<void> {
  for (let deleted = MAX_DELETED_ROWS; deleted === MAX_DELETED_ROWS; ) {
    const result = await db.query(
      `delete from ${table} where id in (select id from ${table} where at < $1 order by at, id limit ${MAX_DELETED_ROWS})`,
      [before],
    );
    deleted = result.rowCount ?? 0;
  }
}

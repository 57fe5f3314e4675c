import { monotonic } from '../calendar.ts';
import type { Pool } from '../database.ts';
import type { Logger } from '../log.ts';
import { poolOf } from './pool.ts';
import type { Cell } from './scope.ts';

/** The channel on which processes tell workers in which cells something was written. */
export const ACTIVITY_CHANNEL = 'cell_activity';
/** Milliseconds after something was written in a cell during which its tasks run at their own intervals. */
const BUSY_MS = 3_000;
/** Milliseconds between two runs of a task in a cell where nothing happens. What waits there is noticed sooner (look.ts). */
const IDLE_INTERVAL_MS = 20_000;
/** Milliseconds between two announcements of a process. */
const ANNOUNCE_INTERVAL_MS = 5;
/** Milliseconds between two announcements of a cell by a process that works on it itself. */
const REPEAT_MS = 1_000;

interface Sleeper {
  wake(): void;
}

/** When the tasks of one cell run. With 32 cells, tasks that all looked at their own intervals would be thousands of statements a second. */
export class CellRhythm {
  readonly cell: number;
  #busyUntil = Number.NEGATIVE_INFINITY;
  readonly #sleepers = new Set<Sleeper>();
  readonly #ranAt = new WeakMap<object, number>();

  constructor(cell: number) {
    this.cell = cell;
  }

  /** Whether something was written in the cell lately. */
  get busy(): boolean {
    return monotonic() < this.#busyUntil;
  }

  /** Tasks that run at once when something is written after a pause. */
  wakes(...sleepers: Sleeper[]): void {
    for (const sleeper of sleepers) this.#sleepers.add(sleeper);
  }

  /** Something was written in the cell, or waits there. */
  stir(): void {
    const slept = !this.busy;
    this.#busyUntil = monotonic() + BUSY_MS;
    if (slept) for (const sleeper of this.#sleepers) sleeper.wake();
  }

  /** Whether a task of all cells does its work in this one now: as long as it is busy, and now and then. */
  takesTurn(task: object): boolean {
    const now = monotonic();
    if (!this.busy && now - (this.#ranAt.get(task) ?? Number.NEGATIVE_INFINITY) < IDLE_INTERVAL_MS) return false;
    this.#ranAt.set(task, now);
    return true;
  }
}

/** The interval of a task of one cell. @param intervalMs milliseconds; where the database has one cell, always so many */
export function intervalIn(
  { rhythm }: { rhythm?: CellRhythm | undefined },
  intervalMs: number,
): number | (() => number) {
  return rhythm ? () => (rhythm.busy ? intervalMs : IDLE_INTERVAL_MS) : intervalMs;
}

/** The cells in which a task of all cells works now. All, where the database has one. */
export function cellsInTurn<Each extends { rhythm?: CellRhythm | undefined }>(
  cells: readonly Each[],
  task: object,
): Each[] {
  return cells.filter(({ rhythm }) => rhythm?.takesTurn(task) ?? true);
}

/**
 * Where something was written, in a database with several cells. Told after each commit that wrote for the change feed, and after each
 * request that may have changed something; workers of other processes hear of it by NOTIFY. What is lost on the way is found by looking.
 */
export class CellActivity {
  readonly #pool: Pool;
  readonly #log: Logger;
  readonly #rhythms = new Map<number, CellRhythm>();
  readonly #saidAt = new Map<number, number>();
  #workers: ((cells: readonly number[]) => void)[] = [];
  #unsaid = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: Pool, log: Logger) {
    // Whatever cell the caller works in: it may not answer.
    this.#pool = poolOf(pool, 'none');
    this.#log = log;
  }

  rhythm(cell: number): CellRhythm {
    let rhythm = this.#rhythms.get(cell);
    if (!rhythm) {
      rhythm = new CellRhythm(cell);
      this.#rhythms.set(cell, rhythm);
    }
    return rhythm;
  }

  /** Work of this process that begins whenever something was written. */
  listen(...workers: ((cells: readonly number[]) => void)[]): void {
    this.#workers = workers;
  }

  /** Something was written in some cells, by this process. */
  wrote(cells: Iterable<Cell>): void {
    // What belongs to no client is in the first.
    const numbers = [...cells].map((cell) => (cell === 'none' ? 0 : cell)).filter((cell) => cell !== 'all');
    if (numbers.length === 0) return;
    this.heard(numbers);
    const now = monotonic();
    for (const cell of numbers) {
      // Other workers go on looking after the cell meanwhile.
      if (this.#workers.length > 0 && now - (this.#saidAt.get(cell) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) continue;
      this.#saidAt.set(cell, now);
      this.#unsaid.add(cell);
    }
    if (!this.#timer && this.#unsaid.size > 0) this.#announce();
  }

  /** Something was written in some cells, by any process. */
  heard(cells: readonly number[]): void {
    for (const cell of cells) this.rhythm(cell).stir();
    for (const worker of this.#workers) worker(cells);
  }

  #announce(): void {
    this.#timer = undefined;
    if (this.#unsaid.size === 0) return;
    const cells = [...this.#unsaid].join(',');
    this.#unsaid = new Set();
    this.#timer = setTimeout(() => this.#announce(), ANNOUNCE_INTERVAL_MS).unref();
    this.#pool.query('select pg_notify($1, $2)', [ACTIVITY_CHANNEL, cells]).catch((error: Error) => {
      this.#log.debug({ reason: error.message }, 'the workers could not be told of activity; they find it by looking');
    });
  }
}

/** The cells that an announcement names. */
export function readAnnouncement(payload: string): number[] {
  return payload.split(',').map(Number);
}

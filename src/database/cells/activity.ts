import { randomUUID } from 'node:crypto';
import type { Logger } from '../../process/log.ts';
import { monotonic } from '../../values/calendar.ts';
import type { Pool } from '../database.ts';
import { poolOf } from './pool.ts';
import type { Cell } from './scope.ts';

/** The channel on which processes tell workers in which cells something was written. */
export const ACTIVITY_CHANNEL = 'cell_activity';
/** Milliseconds after something was written in a cell during which its own tasks come at their intervals. */
const BUSY_MS = 5_000;
/** Milliseconds between two turns of a task in a cell where nothing is written. What waits there is noticed sooner (look.ts). */
const IDLE_INTERVAL_MS = 20_000;
/** Milliseconds in which what was written is gathered for the workers: a request says it at its commit, and at its end. */
const GATHER_MS = 10;
/** Milliseconds between two announcements of a process. */
const ANNOUNCE_INTERVAL_MS = 5;
/** Milliseconds between two announcements of a cell by a process that works on it itself. */
const REPEAT_MS = 1_000;

/** Turns a second that a task which may wait has in all cells together, as long as none waits longer than MAX_REST_MS. */
const TURNS_PER_SECOND = 8;
/** Milliseconds that it waits in a cell at most. */
const MAX_REST_MS = 4_000;

/** What work of one cell needs to know of where it runs; a part's context has it. */
export interface CellResources {
  pool: Pool;
  backgroundPool: Pool;
  /** Where something was written; undefined where the database has one cell. */
  activity?: CellActivity | undefined;
  /** When the tasks of the cell run; undefined where the database has one. */
  rhythm?: CellRhythm | undefined;
}

interface Sleeper {
  wake(): void;
}

/** The last turn of a task in a cell. */
interface Turn {
  /** Monotonic milliseconds. */
  at: number;
  /** What had been written in the cell before it. */
  writes: number;
  /** When the next one comes where nothing is written. */
  nextAt: number;
}

/**
 * When the tasks of one cell run. With 32 cells, tasks that all looked at their own intervals would be thousands of statements a second.
 * So a task has a turn where something was written since the last one, and else seldom.
 */
export class CellRhythm {
  readonly cell: number;
  #busyUntil = Number.NEGATIVE_INFINITY;
  readonly #sleepers = new Set<Sleeper>();
  /** How often something was written. */
  #writes = 0;
  readonly #turns = new WeakMap<object, Turn>();

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
    this.#writes += 1;
    if (slept) for (const sleeper of this.#sleepers) sleeper.wake();
  }

  /** Whether a task does its work in the cell now. @param restMs milliseconds from its last turn, however much is written */
  takesTurn(task: object, restMs = 0): boolean {
    const now = monotonic();
    const last = this.#turns.get(task);
    const restedAt = last && last.writes < this.#writes ? last.at + restMs : Number.POSITIVE_INFINITY;
    if (last && now < Math.min(restedAt, last.nextAt)) return false;
    this.#turns.set(task, { at: now, writes: this.#writes, nextAt: now + IDLE_INTERVAL_MS });
    return true;
  }

  /** A task has left something behind in the cell: it has a turn at its first run after so many milliseconds, or when something is written. */
  againFor(task: object, afterMs = 0): void {
    const last = this.#turns.get(task);
    if (last) last.nextAt = monotonic() + afterMs;
  }
}

/** Milliseconds that a task which may wait rests in a cell after its turn there. @param cells how many the database has */
export function restAmong(cells: number): number {
  return Math.min(MAX_REST_MS, (cells * 1_000) / TURNS_PER_SECOND);
}

/** What belongs to a cell. Where the database has one, nobody waits for a turn. */
interface InCell {
  rhythm?: CellRhythm | undefined;
}

interface CellTask {
  /** Milliseconds between two runs while the cell is busy. */
  intervalMs: number | (() => number);
  run: () => Promise<void>;
}

/** A task of one cell. Where the database has one cell, it runs at its interval. */
export function inRhythm(cell: InCell, task: CellTask): CellTask {
  const { rhythm } = cell;
  if (!rhythm) return task;
  const busyMs = () => (typeof task.intervalMs === 'number' ? task.intervalMs : task.intervalMs());
  return {
    intervalMs: () => (rhythm.busy ? busyMs() : IDLE_INTERVAL_MS),
    run: () => inTurn(task, task.run)(cell),
  };
}

/**
 * The work of a task in each cell, as long as it is the task's turn there. Where it fails, the task has another turn at its next run. Where
 * the database has one cell, it always is its turn.
 * @param restMs milliseconds from its last turn in a cell, however much is written there
 */
export function inTurn<Each extends InCell>(
  task: object,
  work: (cell: Each) => Promise<void>,
  restMs = 0,
): (cell: Each) => Promise<void> {
  return async (cell) => {
    if (cell.rhythm?.takesTurn(task, restMs) === false) return;
    await work(cell).catch((error: unknown) => {
      cell.rhythm?.againFor(task);
      throw error;
    });
  };
}

/** The cells in which a task of all cells works now. All, where the database has one. @param restMs as for `inTurn` */
export function cellsInTurn<Each extends InCell>(cells: readonly Each[], task: object, restMs = 0): Each[] {
  return cells.filter(({ rhythm }) => rhythm?.takesTurn(task, restMs) ?? true);
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
  /** Names this process in its announcements, which come back to it. */
  readonly #origin = randomUUID();
  #workers: ((cells: readonly number[]) => void)[] = [];
  #unsaid = new Set<number>();
  /** Cells that were announced lately: what was written since is announced later, for all of them at once. */
  readonly #late = new Set<number>();
  #lateTimer: NodeJS.Timeout | undefined;
  /** Cells of which the workers have not been told yet. */
  #gathered = new Set<number>();
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
      // This process works on the cell itself.
      const late = this.#workers.length > 0 && now - (this.#saidAt.get(cell) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS;
      (late ? this.#late : this.#unsaid).add(cell);
      if (!late) this.#saidAt.set(cell, now);
    }
    if (this.#late.size > 0) this.#lateTimer ??= setTimeout(() => this.#sayLate(), REPEAT_MS).unref();
    if (!this.#timer && this.#unsaid.size > 0) this.#announce();
  }

  /** This process leaves work in a cell to others. */
  leaves(cell: number): void {
    this.#saidAt.delete(cell);
    this.wrote([cell]);
  }

  /** What is due may have changed in all cells: the clock was moved. */
  stirAll(): void {
    this.#saidAt.clear();
    this.wrote(this.#rhythms.keys());
  }

  /** Something was written in some cells, by any process, or waits there. */
  heard(cells: readonly number[]): void {
    for (const cell of cells) this.rhythm(cell).stir();
    if (this.#workers.length === 0) return;
    if (this.#gathered.size === 0) setTimeout(() => this.#tellWorkers(), GATHER_MS).unref();
    for (const cell of cells) this.#gathered.add(cell);
  }

  /** Something was announced on the channel. This process knows its own announcements. */
  receive(payload: string): void {
    const [origin, cells = ''] = payload.split(' ');
    if (origin !== this.#origin) this.heard(cells.split(',').map(Number));
  }

  #sayLate(): void {
    this.#lateTimer = undefined;
    for (const cell of this.#late) this.#saidAt.set(cell, monotonic());
    for (const cell of this.#late) this.#unsaid.add(cell);
    this.#late.clear();
    if (!this.#timer) this.#announce();
  }

  #tellWorkers(): void {
    const cells = [...this.#gathered];
    this.#gathered = new Set();
    for (const worker of this.#workers) worker(cells);
  }

  #announce(): void {
    this.#timer = undefined;
    if (this.#unsaid.size === 0) return;
    const announcement = `${this.#origin} ${[...this.#unsaid].join(',')}`;
    this.#unsaid = new Set();
    this.#timer = setTimeout(() => this.#announce(), ANNOUNCE_INTERVAL_MS).unref();
    this.#pool.query('select pg_notify($1, $2)', [ACTIVITY_CHANNEL, announcement]).catch((error: Error) => {
      this.#log.debug({ reason: error.message }, 'the workers could not be told of activity; they find it by looking');
    });
  }
}

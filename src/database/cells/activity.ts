import { randomUUID } from 'node:crypto';
import type { Logger } from '../../process/log.ts';
import { monotonic } from '../../values/calendar.ts';
import { type Pool, WORK, type Work } from '../database.ts';
import { pathsOf, poolOf } from './pool.ts';
import type { Cell } from './scope.ts';

/** The topic on which a process tells workers what it left to be done, and in which cells. */
export const ACTIVITY_TOPIC = 'cell_activity';
/** A cell counts as busy for this many milliseconds after a write. While it is busy, its own tasks run at their intervals. */
const BUSY_MS = 5_000;
/** Milliseconds between two turns of a task in a cell where nothing is written. Waiting work is noticed sooner (look.ts). */
const IDLE_INTERVAL_MS = 20_000;
/**
 * Milliseconds between two announcements of a process. A NOTIFY in each transaction would halve the rate of writes, because commits would
 * wait for it.
 */
const ANNOUNCE_INTERVAL_MS = 5;
/** Milliseconds between two announcements about a cell by a process that also works on that cell. */
const REPEAT_MS = 1_000;

/** The most turns a second that a deferrable task has over all cells together, as long as no cell waits longer than MAX_REST_MS. */
const TURNS_PER_SECOND = 8;
/** The most milliseconds that a deferrable task waits in one cell. */
const MAX_REST_MS = 4_000;

/** What the work of one cell needs to know about where it runs. The context of each room contains it. */
export interface CellResources {
  pool: Pool;
  backgroundPool: Pool;
  /** Knows where something was written. */
  activity: Activity;
  /** When the tasks of the cell run. Only the context of a single cell has it. */
  rhythm?: CellRhythm | undefined;
}

interface Sleeper {
  wake(): void;
}

/** Work of this process that starts whenever something was left for it. */
export interface Wakeful {
  /** The kinds of work that it does. */
  work: readonly Work[];
  /** Something was left for it in some cells. @param left may include work of other kinds */
  wake(cells: readonly number[], left: ReadonlySet<Work>): void;
}

/** The last turn of a task in a cell. */
interface Turn {
  /** Monotonic milliseconds. */
  at: number;
  /** The number of writes in the cell before this turn. */
  writes: number;
  /** When the next turn comes if nothing is written. */
  nextAt: number;
}

/**
 * Decides when the tasks of one cell run. With 32 cells, tasks that all looked at their own intervals would run thousands of statements a
 * second. So a task has a turn if something was written since its last one, and otherwise only seldom.
 */
export class CellRhythm {
  readonly cell: number;
  #stirredAt = Number.NEGATIVE_INFINITY;
  readonly #sleepers = new Set<Sleeper>();
  /** The number of writes so far. */
  #writes = 0;
  readonly #turns = new WeakMap<object, Turn>();

  constructor(cell: number) {
    this.cell = cell;
  }

  /** Whether something was written in the cell lately. */
  get busy(): boolean {
    return !this.quietFor(BUSY_MS);
  }

  /** Whether nothing was written for the given number of milliseconds. */
  quietFor(milliseconds: number): boolean {
    return monotonic() - this.#stirredAt >= milliseconds;
  }

  /** Registers tasks that run at once when something is written after a pause. */
  wakes(...sleepers: Sleeper[]): void {
    for (const sleeper of sleepers) this.#sleepers.add(sleeper);
  }

  /** Records that something was written in the cell, or waits there. */
  stir(): void {
    const slept = !this.busy;
    this.#stirredAt = monotonic();
    this.#writes += 1;
    if (slept) for (const sleeper of this.#sleepers) sleeper.wake();
  }

  /**
   * Whether a task does its work in the cell now; if so, this counts as its turn.
   * @param restMs milliseconds that must pass since its last turn, however much is written
   */
  takesTurn(task: object, restMs = 0): boolean {
    const now = monotonic();
    const last = this.#turns.get(task);
    const restedAt = last && last.writes < this.#writes ? last.at + restMs : Number.POSITIVE_INFINITY;
    if (last && now < Math.min(restedAt, last.nextAt)) return false;
    this.#turns.set(task, { at: now, writes: this.#writes, nextAt: now + IDLE_INTERVAL_MS });
    return true;
  }

  /** A task has left something undone in the cell. It has a turn at its first run after `afterMs`, or earlier if something is written. */
  againFor(task: object, afterMs = 0): void {
    const last = this.#turns.get(task);
    if (last) last.nextAt = monotonic() + afterMs;
  }
}

/** Milliseconds that a deferrable task rests in a cell after its turn there. @param cells how many the database has */
export function restAmong(cells: number): number {
  return Math.min(MAX_REST_MS, (cells * 1_000) / TURNS_PER_SECOND);
}

/** Something that belongs to a cell. Without a rhythm, every task always has a turn. */
interface InCell {
  rhythm?: CellRhythm | undefined;
}

interface CellTask {
  /** Milliseconds between two runs while the cell is busy. */
  intervalMs: number | (() => number);
  run: () => Promise<void>;
}

/** Fits a task of one cell to the rhythm of that cell: it runs at its own interval while something is written there, and otherwise seldom. */
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
 * The work of a task in each cell, skipped while the task has no turn there. If it fails, the task has another turn at its next run.
 * @param restMs milliseconds that must pass since its last turn in a cell, however much is written there
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

/** The cells in which a task of all cells has a turn now. @param restMs as for `inTurn` */
export function cellsInTurn<Each extends InCell>(cells: readonly Each[], task: object, restMs = 0): Each[] {
  return cells.filter(({ rhythm }) => rhythm?.takesTurn(task, restMs) ?? true);
}

/**
 * Knows where something was written, and what work that left. It is told after each commit that left something (`leaveWork` of
 * database.ts). Workers of this process hear of it at once, those of other processes by NOTIFY. A lost announcement is made up for by
 * looking (look.ts).
 */
export class Activity {
  readonly #pool: Pool;
  readonly #log: Logger;
  readonly #cells: readonly number[];
  readonly #rhythms = new Map<number, CellRhythm>();
  readonly #saidAt = new Map<number, number>();
  /** Identifies this process in its announcements, which it receives itself too. */
  readonly #origin = randomUUID();
  #workers: Wakeful[] = [];
  #unsaid = new Announcement();
  /** Work left in cells that were announced recently. It is announced later, for all of them at once. */
  #late = new Announcement();
  #lateTimer: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: Pool, log: Logger) {
    // Independent of the caller's cell, which may not answer.
    this.#pool = poolOf(pool, 'none');
    this.#cells = pathsOf(pool)?.numbers ?? [0];
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

  /** Sets the workers of this process. */
  listen(...workers: Wakeful[]): void {
    this.#workers = workers;
  }

  /** A transaction of this process left work in some cells. */
  wrote(cells: Iterable<Cell>, left: ReadonlySet<Work>): void {
    // What belongs to no client is in the first cell.
    const numbers = [...cells].map((cell) => (cell === 'none' ? 0 : cell)).filter((cell) => cell !== 'all');
    if (numbers.length === 0) return;
    this.heard(numbers, left);
    const now = monotonic();
    for (const cell of numbers) {
      // A process with workers does the work itself, so others need not hear at once.
      const late = this.#workers.length > 0 && now - (this.#saidAt.get(cell) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS;
      (late ? this.#late : this.#unsaid).add(cell, left);
      if (!late) this.#saidAt.set(cell, now);
    }
    if (!this.#late.empty) this.#lateTimer ??= setTimeout(() => this.#sayLate(), REPEAT_MS).unref();
    if (!this.#timer && !this.#unsaid.empty) this.#announce();
  }

  /** This process leaves notifications in a cell to other processes. */
  leaves(cell: number): void {
    this.#saidAt.delete(cell);
    this.wrote([cell], new Set(['queue']));
  }

  /** This process has no room for all notifications of a cell, so others may take some. */
  offers(cell: number): void {
    this.#late.add(cell, ['queue']);
    this.#lateTimer ??= setTimeout(() => this.#sayLate(), REPEAT_MS).unref();
  }

  /** The clock was moved: work may have become due in every cell. */
  stirAll(): void {
    this.#saidAt.clear();
    this.wrote(this.#cells, EVERYTHING);
  }

  /** Any process left work in some cells, or work waits there. */
  heard(cells: readonly number[], left: ReadonlySet<Work> = EVERYTHING): void {
    for (const cell of cells) this.rhythm(cell).stir();
    for (const worker of this.#workers) if (worker.work.some((work) => left.has(work))) worker.wake(cells, left);
  }

  /** Handles an announcement. The process ignores its own. */
  receive(payload: string): void {
    const [origin, cells = '', left = ''] = payload.split(' ');
    if (origin === this.#origin) return;
    const words = left.split(',');
    this.heard(cells.split(',').map(Number), new Set(WORK.filter((work) => words.includes(work))));
  }

  #sayLate(): void {
    this.#lateTimer = undefined;
    for (const cell of this.#late.cells) {
      this.#saidAt.set(cell, monotonic());
      this.#unsaid.add(cell, this.#late.left);
    }
    this.#late = new Announcement();
    if (!this.#timer) this.#announce();
  }

  #announce(): void {
    this.#timer = undefined;
    if (this.#unsaid.empty) return;
    const { cells, left } = this.#unsaid;
    const announcement = `${this.#origin} ${[...cells].join(',')} ${[...left].join(',')}`;
    this.#unsaid = new Announcement();
    this.#timer = setTimeout(() => this.#announce(), ANNOUNCE_INTERVAL_MS).unref();
    this.#pool.query('select pg_notify($1, $2)', [ACTIVITY_TOPIC, announcement]).catch((error: Error) => {
      this.#log.debug({ reason: error.message }, 'the workers could not be told of activity; they find it by looking');
    });
  }
}

const EVERYTHING: ReadonlySet<Work> = new Set(WORK);

/** Announcements that are sent together. Each cell may have less work than the whole says. */
class Announcement {
  readonly cells = new Set<number>();
  readonly left = new Set<Work>();

  get empty(): boolean {
    return this.cells.size === 0;
  }

  add(cell: number, left: Iterable<Work>): void {
    this.cells.add(cell);
    for (const work of left) this.left.add(work);
  }
}

import { messageOf } from '../values/unknown.ts';
import type { Logger } from './log.ts';
import { asRun } from './runs.ts';

/** Milliseconds after which a task runs that was woken, unless it says otherwise. */
const WAKE_AFTER_MS = 5;

export interface PeriodicTask {
  /** For the log, and for who listens to its runs. */
  name: string;
  /** Milliseconds between the end of a run and the start of the next; a function where that changes. */
  intervalMs: number | (() => number);
  /** Milliseconds between waking it and its run: what comes meanwhile is done by the same run. */
  wakeAfterMs?: number;
  log: Logger;
  run: () => Promise<void>;
}

/**
 * Runs a task repeatedly, never twice at once in this process. A failure is logged, once while its reason stays the same, and the
 * next run comes as usual. Who listens hears of the end of each run (runs.ts).
 */
export class Periodic {
  readonly #task: PeriodicTask;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = true;
  #woken = false;
  #failure: string | undefined;

  constructor(task: PeriodicTask) {
    this.#task = task;
  }

  /** The first run comes after one interval. */
  start(): void {
    this.#stopped = false;
    this.#schedule();
  }

  /** The first run starts at once. Resolves when it has ended, failed or not. */
  async startNow(): Promise<void> {
    this.#stopped = false;
    await this.#run();
  }

  /** Makes the next run come at once rather than at the end of the interval. */
  wake(): void {
    // Another one would put the run off, for ever where they come faster than it is due.
    if (this.#woken) return;
    this.#woken = true;
    // Without a timer it runs now, and looks at the flag when it has ended.
    if (this.#timer) this.#schedule();
  }

  /** Returns when the current run has ended; no other follows. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#stopped) return;
    const { intervalMs, wakeAfterMs = WAKE_AFTER_MS } = this.#task;
    const pauseMs = typeof intervalMs === 'number' ? intervalMs : intervalMs();
    this.#timer = setTimeout(() => void this.#run(), this.#woken ? wakeAfterMs : pauseMs);
  }

  #run(): Promise<void> {
    this.#timer = undefined;
    this.#woken = false;
    this.#running = this.#attempt().then(() => this.#schedule());
    return this.#running;
  }

  async #attempt(): Promise<void> {
    const { name, log, run } = this.#task;
    try {
      await asRun(name, run);
      this.#failure = undefined;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.#failure) log.warn({ task: name, reason }, 'a background task failed; it will run again');
      this.#failure = reason;
    }
  }
}

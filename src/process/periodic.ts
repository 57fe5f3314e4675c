import { messageOf } from '../values/unknown.ts';
import type { Logger } from './log.ts';
import { asRun } from './runs.ts';

/** Milliseconds from waking a task to its run, unless it says otherwise. */
const WAKE_AFTER_MS = 5;

export interface PeriodicTask {
  /** For the log, and for listeners to its runs. */
  name: string;
  /** Milliseconds between the end of a run and the start of the next; a function if that changes. */
  intervalMs: number | (() => number);
  /** Milliseconds from waking it to its run. The same run handles whatever comes in between. */
  wakeAfterMs?: number;
  log: Logger;
  run: () => Promise<void>;
}

/**
 * Runs a task repeatedly, never twice at once in this process. A failure is logged once while its reason stays the same, and the next run
 * comes as usual. Listeners are told of the end of each run (runs.ts).
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

  /** Starts the first run at once. Resolves when it has ended, whether or not it failed. */
  async startNow(): Promise<void> {
    this.#stopped = false;
    await this.#run();
  }

  /** Makes the next run come at once rather than at the end of the interval. */
  wake(): void {
    // A second wake must not postpone the run; frequent wakes would postpone it for ever.
    if (this.#woken) return;
    this.#woken = true;
    // Without a timer a run is in progress. It checks the flag when it ends.
    if (this.#timer) this.#schedule();
  }

  /** Resolves when the current run has ended. No other run follows. */
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

import type { Logger } from './log.ts';

/** Runs a task again and again, never twice at once in this process; a failure is logged, and the next run comes as usual. */
export class Periodic {
  readonly #name: string;
  readonly #interval: number;
  readonly #log: Logger;
  readonly #task: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = true;

  /** @param interval milliseconds between the end of a run and the next */
  constructor(name: string, interval: number, log: Logger, task: () => Promise<void>) {
    this.#name = name;
    this.#interval = interval;
    this.#log = log;
    this.#task = task;
  }

  start(): void {
    this.#stopped = false;
    this.#schedule();
  }

  /** Ends after the run that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#task()
        .catch((error: Error) =>
          this.#log.warn({ task: this.#name, reason: error.message }, 'a background task failed; it is tried again'),
        )
        .then(() => this.#schedule());
    }, this.#interval);
  }
}

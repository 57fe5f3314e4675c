import type { Pool } from '../database.ts';
import type { Logger } from '../log.ts';

/** The channel on which processes tell workers that events have been committed. */
export const EVENTS_CHANNEL = 'webhook_events';
/** Milliseconds between two NOTIFYs of a process at least: in every transaction they would cost half of the writes (they are serialised). */
const NOTIFY_INTERVAL = 5;

/**
 * Tells the delivery engine, after a commit, that there may be events. Costs nothing where it rings for nothing, and nothing is lost
 * where it does not ring: workers also look by themselves ten times a second.
 */
export class Bell {
  readonly #pool: Pool;
  readonly #log: Logger;
  #listener: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #quiet = true;

  constructor(pool: Pool, log: Logger) {
    this.#pool = pool;
    this.#log = log;
  }

  /** A worker in this process is told directly, without the database. */
  listen(wake: (() => void) | undefined): void {
    this.#listener = wake;
  }

  /** To be called after a transaction that may have written events has been committed. */
  ring(): void {
    if (this.#listener) {
      this.#listener();
      return;
    }
    this.#quiet = false;
    if (this.#timer) return;
    this.#notify();
    this.#timer = setInterval(() => this.#notify(), NOTIFY_INTERVAL).unref();
  }

  #notify(): void {
    if (this.#quiet) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    this.#quiet = true;
    this.#pool.query(`notify ${EVENTS_CHANNEL}`).catch((error: Error) => {
      this.#log.debug(
        { err: { message: error.message } },
        'the workers could not be told of events; they look by themselves',
      );
    });
  }
}

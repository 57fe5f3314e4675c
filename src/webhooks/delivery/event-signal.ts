import type { Pool } from '../../database/database.ts';
import type { Logger } from '../../process/log.ts';

/** The channel on which processes tell workers that events have been committed. */
export const EVENTS_CHANNEL = 'webhook_events';
/** Milliseconds between two NOTIFYs of a process. One in every transaction would cost half of the writes: they are serialised at commit. */
const NOTIFY_INTERVAL_MS = 5;

/**
 * Tells the delivery engine, after a commit, that there may be events. A signal without events costs nothing, and a signal that is
 * missing loses nothing: workers also look ten times a second.
 */
export class EventSignal {
  readonly #pool: Pool;
  readonly #log: Logger;
  #workers: { wake(): void }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #idle = true;

  constructor(pool: Pool, log: Logger) {
    this.#pool = pool;
    this.#log = log;
  }

  /** The workers of this process are told directly, without the database. */
  listen(...workers: { wake(): void }[]): void {
    this.#workers = workers;
  }

  /** To be called after the commit of a transaction that may have written events. */
  raise(): void {
    if (this.#workers.length > 0) {
      for (const worker of this.#workers) worker.wake();
      return;
    }
    this.#idle = false;
    if (this.#timer) return;
    this.#notify();
    this.#timer = setInterval(() => this.#notify(), NOTIFY_INTERVAL_MS).unref();
  }

  #notify(): void {
    if (this.#idle) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    this.#idle = true;
    this.#pool.query(`notify ${EVENTS_CHANNEL}`).catch((error: Error) => {
      this.#log.debug(
        { err: { message: error.message } },
        'the webhook workers could not be told of events; they find them by polling',
      );
    });
  }
}

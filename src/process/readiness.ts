import { monotonic } from '../values/calendar.ts';
import type { Logger } from './log.ts';

/** Milliseconds for which a result counts. This is how a database that hangs is noticed. */
const MAX_AGE_MS = 4_500;

/** Whether this process can serve: it has started, its database answers, takes writes and has a schema that fits, and it is not stopping. */
export class Readiness {
  readonly #log: Logger;
  #found: { fault: string | undefined; at: number } | undefined;
  #stopping = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Why the process is not ready; undefined if it is. */
  fault(): string | undefined {
    if (this.#stopping) return 'the service is stopping';
    if (!this.#found) return 'the service is starting';
    if (this.#found.fault) return this.#found.fault;
    return monotonic() - this.#found.at > MAX_AGE_MS ? 'the database does not answer' : undefined;
  }

  /** @param fault what a check of the database found; undefined if nothing is wrong */
  found(fault: string | undefined): void {
    const former = this.#found?.fault;
    this.#found = { fault, at: monotonic() };
    if (fault === former || this.#stopping) return;
    if (fault) this.#log.error({ reason: fault }, 'not ready');
    else this.#log.info('ready again');
  }

  /** From now on the process is not ready, whatever the database does. */
  stop(): void {
    this.#stopping = true;
  }
}

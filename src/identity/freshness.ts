import { monotonic } from '../calendar.ts';
import { createPool, first, type Pool } from '../database.ts';
import type { Logger } from '../log.ts';

/** Milliseconds between two looks at the version. */
const POLL_INTERVAL = 300;
/** Milliseconds: what was read longer ago is not trusted, so that a change is seen everywhere within a second. */
const MAX_TRUST = 1_000;

/**
 * Whether what a process remembers of contacts, clients, applications and tokens still stands. A number in the database is raised
 * by every transaction that changes one of them; whoever remembers something remembers the number that was read together with it.
 * It has a connection of its own: under load a poll that waits for a free one would make every memory worthless.
 */
export class Freshness {
  readonly #pool: Pool;
  readonly #log: Logger;
  #version = Number.POSITIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #running = false;

  constructor(pool: Pool, log: Logger) {
    const url = pool.options.connectionString;
    if (!url) throw new TypeError('the pool must have been made by createPool');
    this.#pool = createPool(url, log, { max: 1, name: 'lombard-identity-version' });
    this.#log = log;
  }

  /** Reads the version once, then again and again until `stop`. */
  async start(): Promise<void> {
    this.#running = true;
    await this.#poll();
  }

  async stop(): Promise<void> {
    this.#running = false;
    clearTimeout(this.#timer);
    await this.#pool.end();
  }

  /** Whether what was read together with this version may be used without asking the database; costs 50 ns. */
  holds(version: number): boolean {
    return version >= this.#version && monotonic() - this.#readAt <= MAX_TRUST;
  }

  async #poll(): Promise<void> {
    const started = monotonic();
    try {
      const row = first(
        await this.#pool.query<{ version: number }>({
          name: 'identity_version',
          text: 'select version from identity_version',
        }),
      );
      if (row) {
        this.#version = row.version;
        this.#readAt = started;
      }
    } catch (error) {
      if (this.#running) this.#log.warn({ reason: (error as Error).message }, 'the identity version could not be read');
    }
    if (this.#running) this.#timer = setTimeout(() => void this.#poll(), POLL_INTERVAL).unref();
  }
}

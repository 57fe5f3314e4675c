import { monotonic } from '../calendar.ts';
import { createPool, first, type Pool } from '../database.ts';
import type { Logger } from '../log.ts';
import { Periodic } from '../periodic.ts';

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
  readonly #polling: Periodic;
  #version = Number.POSITIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool, log: Logger) {
    const url = pool.options.connectionString;
    if (!url) throw new TypeError('the pool must have been made by createPool');
    this.#pool = createPool(url, log, { max: 1, name: 'lombard-identity-version' });
    this.#polling = new Periodic({
      name: 'identity version',
      intervalMs: POLL_INTERVAL,
      log,
      run: () => this.#poll(),
    });
  }

  /** Reads the version once, then again and again until `stop`. */
  async start(): Promise<void> {
    await this.#polling.startNow();
  }

  async stop(): Promise<void> {
    await this.#polling.stop();
    await this.#pool.end();
  }

  /** Whether what was read together with this version may be used without asking the database; costs 50 ns. */
  holds(version: number): boolean {
    return version >= this.#version && monotonic() - this.#readAt <= MAX_TRUST;
  }

  async #poll(): Promise<void> {
    const started = monotonic();
    const row = first(
      await this.#pool.query<{ version: number }>({
        name: 'identity_version',
        text: 'select version from identity_version',
      }),
    );
    if (!row) return;
    this.#version = row.version;
    this.#readAt = started;
  }
}

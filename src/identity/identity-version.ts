import { monotonic } from '../calendar.ts';
import { createPool, first, type Pool } from '../database.ts';
import type { Logger } from '../log.ts';
import { Periodic } from '../periodic.ts';

const POLL_INTERVAL_MS = 300;
/** The age up to which a version is trusted. Every process sees a change within a second. */
const MAX_AGE_MS = 1_000;

/**
 * Tells whether cached contacts, clients, applications and tokens are still current. Every transaction that changes one of them
 * raises a version number in the database. A cache entry keeps the version that was read together with it.
 * The poll has a connection of its own: if it waited for a free one under load, every cache would be useless.
 */
export class IdentityVersion {
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
      intervalMs: POLL_INTERVAL_MS,
      log,
      run: () => this.#poll(),
    });
  }

  /** Reads the version once, then polls it until `stop`. */
  async start(): Promise<void> {
    await this.#polling.startNow();
  }

  async stop(): Promise<void> {
    await this.#polling.stop();
    await this.#pool.end();
  }

  /** Whether an entry that was read with this version may be used without asking the database. Costs 50 ns. */
  isCurrent(version: number): boolean {
    return version >= this.#version && monotonic() - this.#readAt <= MAX_AGE_MS;
  }

  async #poll(): Promise<void> {
    const started = monotonic();
    const row = first(await this.#pool.query<{ version: number }>('select version from identity_version'));
    if (!row) return;
    this.#version = row.version;
    this.#readAt = started;
  }
}

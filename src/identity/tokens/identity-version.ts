import type { Pool } from '../../database/database.ts';
import { createPool } from '../../database/pools.ts';
import type { Logger } from '../../process/log.ts';
import { Periodic } from '../../process/periodic.ts';
import { monotonic } from '../../values/calendar.ts';

const POLL_INTERVAL_MS = 300;
/** Milliseconds for which a version is trusted. So every process sees a change within a second. */
const MAX_AGE_MS = 1_000;

/** The most changes that one poll reads. If there are more, everything cached is read again. */
const MAX_CHANGES = 1_000;
/** The number of subjects whose last change is remembered. */
const MAX_SUBJECTS = 10_000;

/** Something read from the database, with the version that was read together with it. */
export interface Versioned {
  version: number;
}

interface Row {
  version: number;
  /** Null if nothing has changed. */
  changed: number | null;
  subject: string;
}

/** The name of something that a cached session or application depends on, in the form that the triggers write. */
export function subject(kind: 'contact' | 'application' | 'client', id: string): string {
  return `${kind}:${id}`;
}

/**
 * Knows whether cached contacts, clients, applications and tokens are still current. Every transaction that changes one of them raises a
 * version number in the database and names the subjects that it changed. A cache entry keeps the version that was read together with it,
 * and stays current until one of its own subjects changes. The poll has a connection of its own. If it waited for a free one under load,
 * every cache would be useless.
 */
export class IdentityVersion {
  readonly #pool: Pool;
  readonly #polling: Periodic;
  /** The last version that was read. */
  #version = Number.POSITIVE_INFINITY;
  /** The subjects of all versions after this one are in `#changed`. */
  #forgotten = Number.POSITIVE_INFINITY;
  /** The last version that changed each subject. */
  readonly #changed = new Map<string, number>();
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

  /**
   * Whether an entry may be used without asking the database. It costs 50 ns if nothing has changed since the last call for the entry.
   * @param entry gets the current version if it is still current
   * @param subjects what it depends on; called only after a change
   */
  isCurrent(entry: Versioned, subjects: () => Iterable<string>): boolean {
    if (monotonic() - this.#readAt > MAX_AGE_MS) return false;
    if (entry.version >= this.#version) return true;
    if (entry.version < this.#forgotten) return false;
    for (const each of subjects()) if ((this.#changed.get(each) ?? 0) > entry.version) return false;
    entry.version = this.#version;
    return true;
  }

  async #poll(): Promise<void> {
    const started = monotonic();
    const { rows } = await this.#pool.query<Row>(
      `select v.version, c.version as changed, c.subject from identity_version v
       left join lateral (select version, subject from identity_changes where version > $1 order by version limit $2) c on true`,
      [this.#version === Number.POSITIVE_INFINITY ? 0 : this.#version, MAX_CHANGES + 1],
    );
    const [first] = rows;
    if (!first) return;
    this.#note(first, rows);
    this.#version = first.version;
    this.#readAt = started;
  }

  #note(first: Row, rows: Row[]): void {
    if (first.version === this.#version) return;
    // Each version has its changes until they are deleted.
    const versions = new Set(rows.map(({ changed }) => changed).filter((version) => version !== null));
    const complete = versions.size === first.version - this.#version && rows.length <= MAX_CHANGES;
    if (!complete || this.#changed.size + rows.length > MAX_SUBJECTS) {
      this.#changed.clear();
      this.#forgotten = first.version;
    } else for (const { changed, subject } of rows) if (changed !== null) this.#changed.set(subject, changed);
  }
}

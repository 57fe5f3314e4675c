import type { Db } from '../database/database.ts';

/** Milliseconds between two checks of the feed while somebody waits. */
const LOOK_INTERVAL_MS = 50;

interface Waiting {
  behind: number;
  wake: () => void;
}

/**
 * Wakes waiting requests when the feed has grown. One check serves all requests of the process, and none of them holds a connection. While
 * nobody waits, nothing is checked.
 */
export class Arrivals {
  readonly #db: Db;
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Resolves when the feed has grown beyond a position, after `limitMs` milliseconds, or when the service stops. */
  async wait(behind: number, limitMs: number): Promise<void> {
    if (this.#stopped || limitMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { behind, wake: resolve };
    const late = setTimeout(resolve, limitMs);
    this.#waiting.add(waiting);
    this.#lookSoon();
    try {
      await promise;
    } finally {
      clearTimeout(late);
      this.#waiting.delete(waiting);
    }
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Answers everybody who is waiting. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const { wake } of this.#waiting) wake();
  }

  #lookSoon(): void {
    if (this.#timer || this.#stopped) return;
    this.#timer = setTimeout(() => void this.#look(), LOOK_INTERVAL_MS);
  }

  async #look(): Promise<void> {
    try {
      const { rows } = await this.#db.query<{ last: number }>({
        name: 'change-feed-last',
        text: 'select position + changes - 1 as last from change_order order by position desc limit 1',
        values: [],
      });
      const last = rows[0]?.last ?? 0;
      for (const { behind, wake } of this.#waiting) if (last > behind) wake();
    } catch {
      // The waiting request finds out about the lost database itself, when it reads its page.
    }
    this.#timer = undefined;
    if (this.#waiting.size > 0) this.#lookSoon();
  }
}

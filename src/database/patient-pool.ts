import pg from 'pg';
import { monotonic } from '../values/calendar.ts';

/** While a connection became free this recently, the database answers. Then the callers are merely many, and each will get a connection. */
const MAX_PAUSE_MS = 500;
/** Milliseconds after which a caller stops waiting for its turn. */
const MAX_TURN_MS = 10_000;
/** The message of pg if no connection became free within `connectionTimeoutMillis`. */
const NONE_FREE = /timeout exceeded when trying to connect/;

type Connected = Parameters<pg.Pool['connect']>[0];

/**
 * A pool that distinguishes a crowd of callers from a database that does not answer. A caller that has waited `connectionTimeoutMillis`
 * goes on waiting while others get connections. If nothing moves, it fails as usual. The pool can replace its connections, even those in
 * use.
 */
export class PatientPool extends pg.Pool {
  #freedAt = Number.NEGATIVE_INFINITY;
  #renewedAt = Number.NEGATIVE_INFINITY;
  readonly #openedAt = new WeakMap<pg.PoolClient, number>();

  constructor(config: pg.PoolConfig) {
    super(config);
    this.on('release', (error: Error | boolean | undefined) => {
      if (!error) this.#freedAt = monotonic();
    });
    this.on('connect', (client) => this.#openedAt.set(client, monotonic()));
  }

  /** From now on nobody gets a connection that is already open. Current holders keep theirs. */
  renew(): void {
    this.#renewedAt = monotonic();
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const until = monotonic() + MAX_TURN_MS;
    if (callback) {
      this.#takeTurn(callback, until);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#takeTurn((error, client) => (client ? resolve(client) : reject(error)), until);
    });
  }

  #takeTurn(callback: Connected, until: number): void {
    super.connect((error, client, release) => {
      const now = monotonic();
      if (error && NONE_FREE.test(error.message) && now < until && now - this.#freedAt < MAX_PAUSE_MS)
        this.#takeTurn(callback, until);
      else if (client && (this.#openedAt.get(client) ?? now) <= this.#renewedAt) {
        release(true);
        this.#takeTurn(callback, until);
      } else callback(error, client, release);
    });
  }
}

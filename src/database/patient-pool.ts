import pg from 'pg';
import { monotonic } from '../values/calendar.ts';

/** While a connection has become free so recently, the database answers: then many callers wait, and none of them waits in vain. */
const MAX_PAUSE_MS = 500;
/** Milliseconds after which a caller no longer waits for its turn. */
const MAX_TURN_MS = 10_000;
/** What pg says where no connection became free within `connectionTimeoutMillis`. */
const NONE_FREE = /timeout exceeded when trying to connect/;

type Connected = Parameters<pg.Pool['connect']>[0];

/**
 * A pool that tells many callers from a database that does not answer. Who has waited `connectionTimeoutMillis` for a connection waits on
 * while others get theirs, and fails as before where nothing moves. Its connections can be replaced, also those that are in use.
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

  /** From now on nobody gets a connection that is open already. Who has one keeps it. */
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

import { monotonic } from '../../values/calendar.ts';

/** While a turn ended this recently, the database answers, and a waiting caller will get its turn. */
const MAX_PAUSE_MS = 500;
/** Milliseconds after which a caller no longer waits for its turn. */
const MAX_WAIT_MS = 10_000;

interface Waiting {
  server: string;
  start: () => void;
}

/** The turn of a caller that reads all cells and may wait for any server. */
export const EVERY_SERVER = '*';

/**
 * Limits how many callers at a time hold connections of a pool that may wait for one server. The others wait for their turn. So a server
 * that gives no answer leaves connections to the others, however many cells it has.
 */
export class CellTurns {
  readonly #max: number;
  readonly #waitMs: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  readonly #kept = new WeakMap<object, string>();
  #endedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param max callers of one server at a time;
   * @param waitMs milliseconds that a caller waits, and longer while others get their turn
   */
  constructor(max: number, waitMs: number) {
    this.#max = max;
    this.#waitMs = waitMs;
  }

  /** @param begin called when it is the caller's turn, or with an error if its turn did not come in time */
  take(server: string, begin: (late?: Error) => void): void {
    if (this.#isFree(server)) {
      this.#add(server, 1);
      return void begin();
    }
    const until = monotonic() + MAX_WAIT_MS;
    const giveUp = () => {
      const now = monotonic();
      if (now < until && now - this.#endedAt < MAX_PAUSE_MS) {
        timer = setTimeout(giveUp, this.#waitMs);
        return;
      }
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      // The same message as the pool's.
      begin(new Error('timeout exceeded when trying to connect'));
    };
    let timer = setTimeout(giveUp, this.#waitMs);
    const start = () => {
      clearTimeout(timer);
      begin();
    };
    const waiting = { server, start };
    this.#waiting.push(waiting);
  }

  /** Records that a caller has got a connection; its turn ends with `endOf`. */
  keep(client: object, server: string): void {
    this.#kept.set(client, server);
  }

  endOf(client: object): void {
    const server = this.#kept.get(client);
    if (server === undefined) return;
    this.#kept.delete(client);
    this.end(server);
  }

  /** Ends a turn and gives it to the callers that may have a connection now. */
  end(server: string): void {
    this.#endedAt = monotonic();
    this.#add(server, -1);
    for (const waiting of [...this.#waiting]) {
      if (!this.#isFree(waiting.server)) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      this.#add(waiting.server, 1);
      waiting.start();
    }
  }

  #isFree(server: string): boolean {
    const ofAll = this.#taken.get(EVERY_SERVER) ?? 0;
    const own =
      server === EVERY_SERVER
        ? Math.max(0, ...[...this.#taken].map(([each, taken]) => (each === EVERY_SERVER ? 0 : taken)))
        : (this.#taken.get(server) ?? 0);
    return own + ofAll < this.#max;
  }

  #add(server: string, turns: number): void {
    this.#taken.set(server, (this.#taken.get(server) ?? 0) + turns);
  }
}

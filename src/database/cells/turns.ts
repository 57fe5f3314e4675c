/** Callers of one cell. */
interface Turns {
  /** How many have a connection, or are about to get one. */
  taken: number;
  waiting: (() => void)[];
}

/** Lets so many callers of each cell have a connection of a pool at a time. The others wait for their turn. */
export class CellTurns {
  readonly #max: number;
  readonly #waitMs: number;
  readonly #cells = new Map<number, Turns>();
  readonly #kept = new WeakMap<object, number>();

  /** @param max of one cell; at least 2, since a caller may need a second connection; @param waitMs milliseconds that a caller waits */
  constructor(max: number, waitMs: number) {
    this.#max = Math.max(2, max);
    this.#waitMs = waitMs;
  }

  /** @param begin called when it is the caller's turn, or with an error where it did not come in time */
  take(cell: number, begin: (late?: Error) => void): void {
    const turns = this.#cells.get(cell) ?? { taken: 0, waiting: [] };
    this.#cells.set(cell, turns);
    if (turns.taken < this.#max) {
      turns.taken += 1;
      return void begin();
    }
    const timer = setTimeout(() => {
      turns.waiting.splice(turns.waiting.indexOf(start), 1);
      // As the pool says it.
      begin(new Error('timeout exceeded when trying to connect'));
    }, this.#waitMs);
    const start = () => {
      clearTimeout(timer);
      begin();
    };
    turns.waiting.push(start);
  }

  /** A caller has got a connection; its turn ends with `endOf`. */
  keep(client: object, cell: number): void {
    this.#kept.set(client, cell);
  }

  endOf(client: object): void {
    const cell = this.#kept.get(client);
    if (cell === undefined) return;
    this.#kept.delete(client);
    this.end(cell);
  }

  /** The next one takes its turn. */
  end(cell: number): void {
    const turns = this.#cells.get(cell);
    const next = turns?.waiting.shift();
    if (next) next();
    else if (turns) turns.taken -= 1;
  }
}

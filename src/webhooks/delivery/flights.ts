/** Requests in flight at once at most in a process: each is an open file. */
const MAX_IN_FLIGHT = 2_000;

/** The requests in flight of a process, which its cells share. A cell always gets its part, however busy the others are. */
export class Flights {
  readonly #max: number;
  readonly #part: number;
  #inFlight = 0;

  constructor(cells: number, max = MAX_IN_FLIGHT) {
    this.#max = max;
    this.#part = Math.ceil(max / cells);
  }

  begin(): void {
    this.#inFlight += 1;
  }

  end(): void {
    this.#inFlight -= 1;
  }

  /** Whether a cell has to wait. @param own requests in flight of the cell */
  isFull(own: number): boolean {
    return own >= this.#part && this.#inFlight >= this.#max;
  }
}

import { monotonic } from '../values/calendar.ts';

/** Milliseconds after a request during which more requests are expected. */
const BUSY_MS = 250;

/** Tells whether this process is answering requests. Background work that can wait then makes room for them. */
export class Traffic {
  #cameAt = Number.NEGATIVE_INFINITY;

  /** Records that a request has arrived. */
  note(): void {
    this.#cameAt = monotonic();
  }

  get busy(): boolean {
    return monotonic() - this.#cameAt < BUSY_MS;
  }
}

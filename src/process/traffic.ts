import { monotonic } from '../values/calendar.ts';

/** Milliseconds after a request for which others are taken to follow. */
const BUSY_MS = 250;

/** Whether this process answers requests at present. Background work that can wait leaves it room then. */
export class Traffic {
  #cameAt = Number.NEGATIVE_INFINITY;

  /** A request has come. */
  note(): void {
    this.#cameAt = monotonic();
  }

  get busy(): boolean {
    return monotonic() - this.#cameAt < BUSY_MS;
  }
}

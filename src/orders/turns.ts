import { setImmediate as nextTurn } from 'node:timers/promises';
import { monotonic } from '../values/calendar.ts';

/** Milliseconds of work before other work gets a turn. */
const TURN_MS = 1;
/** Elements processed between two checks of the time. */
const ELEMENTS = 5;

/** Splits long work into turns. Between two turns, the process does other work. */
export class Turn {
  #began = monotonic();

  get isOver(): boolean {
    return monotonic() - this.#began >= TURN_MS;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#began = monotonic();
  }
}

/** Processes a long list, and lets the process do other work after each millisecond. @param work is given a few elements at a time */
export async function inTurns<T, R>(all: readonly T[], work: (some: readonly T[]) => readonly R[]): Promise<R[]> {
  const done: R[] = [];
  const turn = new Turn();
  for (let from = 0; from < all.length; from += ELEMENTS) {
    if (turn.isOver) await turn.next();
    done.push(...work(all.slice(from, from + ELEMENTS)));
  }
  return done;
}

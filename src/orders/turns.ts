import { setImmediate as nextTurn } from 'node:timers/promises';

/** Elements that are worked on before others have their turn: some milliseconds. */
const ELEMENTS_OF_TURN = 50;

/** Works on a long list in parts, and gives others their turn between them. */
export async function inTurns<T, R>(all: readonly T[], work: (some: readonly T[]) => readonly R[]): Promise<R[]> {
  const done: R[] = [];
  for (let from = 0; from < all.length; from += ELEMENTS_OF_TURN) {
    if (from > 0) await nextTurn();
    done.push(...work(all.slice(from, from + ELEMENTS_OF_TURN)));
  }
  return done;
}

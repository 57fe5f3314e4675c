import { setImmediate as nextTurn } from 'node:timers/promises';

/** The number of elements to work on before other work has its turn. They take some milliseconds. */
const ELEMENTS_OF_TURN = 50;

/** Works on a long list in parts, and lets other work run between them. */
export async function inTurns<T, R>(all: readonly T[], work: (some: readonly T[]) => readonly R[]): Promise<R[]> {
  const done: R[] = [];
  for (let from = 0; from < all.length; from += ELEMENTS_OF_TURN) {
    if (from > 0) await nextTurn();
    done.push(...work(all.slice(from, from + ELEMENTS_OF_TURN)));
  }
  return done;
}

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * By how much (per cent) the heap may grow before it is collected, while the service starts or an import runs. Left to itself V8 lets it triple
 * on a machine with much memory: 410 MB resident instead of 270, for the same speed (docs/performance-imports.md). Requests are answered a
 * fifth faster without this, so that it holds for those alone.
 */
const GROWTH = 30;
const AS_V8_LIKES = 0;

/** Milliseconds after which an import is a long one: a short one is not worth the pause of a collection. */
export const LONG_IMPORT = 500;

let underWay = 0;

/**
 * Runs something during which the heap of this process is kept small.
 * @param after milliseconds from which on it is
 */
export async function withLeanHeap<T>(work: () => Promise<T>, after: number): Promise<T> {
  let lean = false;
  const timer = setTimeout(() => {
    lean = true;
    underWay += 1;
    if (underWay === 1) shrink();
  }, after);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (lean) underWay -= 1;
    if (lean && underWay === 0) setFlagsFromString(`--heap-growing-percent=${AS_V8_LIKES}`);
  }
}

/** How far the heap may grow was decided at the last collection, so that there is one. */
function shrink(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

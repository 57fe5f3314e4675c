import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * The percentage by which the heap may grow before it is collected, while the service starts or an import runs. By default V8 lets it
 * triple on a machine with much memory: 410 MB resident instead of 270, at the same speed (docs/performance-imports.md). Requests are
 * answered a fifth faster without the limit, so it applies only to starts and imports.
 */
const GROWTH_PERCENT = 30;
/** Leaves the choice to V8. */
const DEFAULT_GROWTH_PERCENT = 0;

/** Milliseconds after which an import is worth the pause of a collection. */
export const LONG_IMPORT_MS = 500;

let inFlight = 0;

/**
 * Runs work while the heap of this process may grow only slowly.
 * @param afterMs milliseconds after which the limit takes effect
 */
export async function limitHeapGrowth<T>(work: () => Promise<T>, afterMs: number): Promise<T> {
  let limited = false;
  const timer = setTimeout(() => {
    limited = true;
    inFlight += 1;
    if (inFlight === 1) shrink();
  }, afterMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (limited) inFlight -= 1;
    if (limited && inFlight === 0) setGrowth(DEFAULT_GROWTH_PERCENT);
  }
}

function setGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/** At each collection V8 decides how far the heap may grow until the next one. So a collection puts the limit into effect. */
function shrink(): void {
  setGrowth(GROWTH_PERCENT);
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

import { setTimeout as pause } from 'node:timers/promises';

const DEFAULT_SECONDS = 30;
/** Between two looks: what comes soon is seen soon, what takes long is not asked for all the time. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;
const MAX_SOURCE_LENGTH = 300;

export interface Wait {
  /** What did not come, for the failure; without it the condition's own text says so. */
  what?: string;
  /** One look begins when they are over. */
  seconds?: number;
  /** More for the failure, such as what was there instead. */
  seen?: () => unknown;
  /** Who tells when to look, and gives what ends that; without it, looks come at short distances. */
  on?: (look: () => void) => () => void;
}

/**
 * The one wait of all tests: looks until a condition gives something. What it throws ends the wait.
 * @param condition gives what is waited for; false, 0, '', null and undefined are "not yet"
 * @returns what the condition gave
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { what, seconds = DEFAULT_SECONDS, seen, on }: Wait = {},
): Promise<Exclude<NonNullable<T>, false>> {
  const deadline = performance.now() + seconds * 1_000;
  let told = Promise.withResolvers<void>();
  const end = on?.(() => told.resolve());
  try {
    for (let wait = on ? seconds * 1_000 : FIRST_PAUSE_MS; ; wait = on ? wait : Math.min(2 * wait, LONGEST_PAUSE_MS)) {
      const last = performance.now() >= deadline;
      told = Promise.withResolvers();
      const found = await condition();
      if (found) return found as Exclude<NonNullable<T>, false>;
      if (last) break;
      await endsFirst(told.promise, Math.min(wait, Math.max(1, deadline - performance.now())));
    }
  } finally {
    end?.();
  }
  const instead = seen ? `; seen: ${JSON.stringify(await seen())}` : '';
  throw new Error(`not within ${seconds} s: ${what ?? textOf(condition)}${instead}`);
}

/** Until something is told, at most so many milliseconds. */
async function endsFirst(told: Promise<void>, milliseconds: number): Promise<void> {
  const over = new AbortController();
  const late = pause(milliseconds, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([told, late]);
  over.abort();
}

function textOf(condition: () => unknown): string {
  return condition.toString().replaceAll(/\s+/g, ' ').slice(0, MAX_SOURCE_LENGTH);
}

import { setTimeout as pause } from 'node:timers/promises';

const DEFAULT_SECONDS = 30;
/** Milliseconds between two checks, which grow: quick changes are seen soon, and slow ones are not polled too often. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;
const MAX_SOURCE_LENGTH = 300;

export interface Wait {
  /** What did not come, for the error message; by default, the text of the condition. */
  what?: string;
  /** The time limit. One last check starts when it has passed. */
  seconds?: number;
  /** Further details for the error message, such as what was there instead. */
  seen?: () => unknown;
  /** Calls back when to check, and returns a function that stops that. Without it, checks come at short intervals. */
  on?: (look: () => void) => () => void;
}

/**
 * The one wait of all tests: checks until a condition returns something. If it throws, the wait ends.
 * @param condition returns what is waited for; false, 0, '', null and undefined mean "not yet"
 * @returns what the condition returned
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

/** Waits until something is reported, but at most this many milliseconds. */
async function endsFirst(told: Promise<void>, milliseconds: number): Promise<void> {
  const over = new AbortController();
  const late = pause(milliseconds, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([told, late]);
  over.abort();
}

function textOf(condition: () => unknown): string {
  return condition.toString().replaceAll(/\s+/g, ' ').slice(0, MAX_SOURCE_LENGTH);
}

import { setTimeout as pause } from 'node:timers/promises';

const DEFAULT_SECONDS = 30;
/** Between two looks: what comes soon is seen soon, what takes long is not asked for all the time. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;
const MAX_SOURCE_LENGTH = 300;

/**
 * The one wait of all tests: looks until a condition gives something. What it throws ends the wait.
 * @param condition gives what is waited for; false, 0, '', null and undefined are "not yet". One look begins when the time is over
 * @param what the sentence for the failure; without it the condition's own text says what did not come
 * @param seen more for the failure, such as what was there instead
 * @returns what the condition gave
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { what, seconds = DEFAULT_SECONDS, seen }: { what?: string; seconds?: number; seen?: () => unknown } = {},
): Promise<Exclude<NonNullable<T>, false>> {
  const deadline = performance.now() + seconds * 1_000;
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
    const last = performance.now() >= deadline;
    const found = await condition();
    if (found) return found as Exclude<NonNullable<T>, false>;
    if (last) break;
    await pause(Math.min(wait, Math.max(1, deadline - performance.now())));
  }
  const instead = seen ? `; seen: ${JSON.stringify(await seen())}` : '';
  throw new Error(`not within ${seconds} s: ${what ?? textOf(condition)}${instead}`);
}

function textOf(condition: () => unknown): string {
  return condition.toString().replaceAll(/\s+/g, ' ').slice(0, MAX_SOURCE_LENGTH);
}

/** When a mail is tried again (docs/decisions.md, 5). Pushed statements have the schedule of webhooks. */

/** Milliseconds to wait after the first failure; each further wait is twice as long, up to the longest. */
const FIRST_WAIT_MS = 30_000;
const MAX_WAIT_MS = 1_800_000;
/** Milliseconds from the request during which a mail is tried again. */
const MAIL_RETRY_MS = 86_400_000;
/** Fraction of a wait by which it is made longer or shorter. */
const JITTER = 0.1;

/**
 * Milliseconds until the next attempt, or undefined if the day is over.
 * @param made attempts so far, at least 1
 * @param age milliseconds since the request
 * @param random from 0 up to 1
 */
export function mailWait(made: number, age: number, random: number): number | undefined {
  const left = MAIL_RETRY_MS - age;
  if (left <= 0) return undefined;
  const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(made - 1, 16)) * (1 - JITTER + 2 * JITTER * random);
  // The last attempt is made at the end of the day, not up to half an hour earlier.
  return Math.round(Math.min(wait, left));
}

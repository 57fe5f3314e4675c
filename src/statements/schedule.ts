/** When a statement's mail is tried again (docs/decisions.md, 5); pushes keep the schedule of webhooks. */

/** Milliseconds: the wait after the first failure, which doubles, and the longest one. */
const FIRST_WAIT = 30_000;
const MAX_WAIT = 1_800_000;
/** Milliseconds from the request during which a mail server may be down. */
const MAIL_RETRIED_FOR = 86_400_000;
/** Part of a wait by which it is made longer or shorter. */
const JITTER = 0.1;

/**
 * Milliseconds until the next attempt, or undefined where the day is over.
 * @param made attempts so far, from 1
 * @param age milliseconds since the request
 * @param random from 0 up to 1
 */
export function mailWait(made: number, age: number, random: number): number | undefined {
  const left = MAIL_RETRIED_FOR - age;
  if (left <= 0) return undefined;
  const wait = Math.min(MAX_WAIT, FIRST_WAIT * 2 ** Math.min(made - 1, 16)) * (1 - JITTER + 2 * JITTER * random);
  // The last attempt is made when the day ends, not up to half an hour before.
  return Math.round(Math.min(wait, left));
}

/** When a failed notification is tried again (docs/decisions.md, 6). */

/** The part of a wait by which it is made longer or shorter, so that notifications that failed together do not come back together. */
export const JITTER = 0.1;
/** `Retry-After` is honoured up to a day, and never makes a hot loop. */
export const MAX_RETRY_AFTER_MS = 86_400_000;
const MIN_RETRY_AFTER_MS = 1_000;

/**
 * Milliseconds to wait before the next attempt, or undefined where the schedule has no more. With the wait 60,000 of the schedule
 * and `random` 0.5 it is 60,000; with `random` 0 it is 54,000.
 * @param waits LOMBARD_WEBHOOK_RETRIES, in milliseconds
 * @param last `made`: attempts made in this round, from 1; `retryAfter`: milliseconds that the receiver asked for, which replace the
 *   schedule's wait; `random`: from 0 up to 1
 */
export function nextWait(
  waits: readonly number[],
  last: { made: number; retryAfter: number | undefined; random: number },
): number | undefined {
  const wait = waits[last.made - 1];
  if (wait === undefined) return undefined;
  if (last.retryAfter !== undefined) return Math.min(Math.max(last.retryAfter, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS);
  return Math.round(wait * (1 - JITTER + 2 * JITTER * last.random));
}

/**
 * Milliseconds of a `Retry-After` header (RFC 9110, 10.2.3: seconds or an HTTP date), or undefined where there is none, or it is neither.
 * @param now service time, to which a date is compared
 */
export function parseRetryAfter(value: string | string[] | undefined, now: Date): number | undefined {
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

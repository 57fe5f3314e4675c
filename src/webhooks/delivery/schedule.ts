/** When a failed notification is tried again (docs/decisions.md, 6). */

/** The fraction by which a wait is lengthened or shortened, so that notifications that failed together do not come back together. */
export const JITTER = 0.1;
/** `Retry-After` is honoured up to one day, and can never cause a hot loop. */
export const MAX_RETRY_AFTER_MS = 86_400_000;
const MIN_RETRY_AFTER_MS = 1_000;

/**
 * Milliseconds to wait before the next attempt, or undefined if the schedule has ended. With a scheduled wait of 60,000 and `random` 0.5 it
 * is 60,000; with `random` 0 it is 54,000.
 * @param waits LOMBARD_WEBHOOK_RETRIES, in milliseconds
 * @param last `made`: attempts made in this round, from 1; `retryAfter`: milliseconds that the receiver asked for, which replace the
 * schedule's wait; `random`: from 0 up to 1
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
 * Milliseconds of a `Retry-After` header (RFC 9110, 10.2.3: seconds or an HTTP date); undefined if there is none or it is not valid.
 * @param now service time, with which a date is compared
 */
export function parseRetryAfter(value: string | string[] | undefined, now: Date): number | undefined {
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

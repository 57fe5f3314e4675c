/** When a failed notification is tried again (docs/decisions.md, 6). */

/** Part of a wait by which it is made longer or shorter, so that what failed together does not come back together. */
export const JITTER = 0.1;
/** Milliseconds: `Retry-After` is honoured up to a day, and never makes a hot loop. */
export const MAX_RETRY_AFTER = 86_400_000;
const MIN_RETRY_AFTER = 1_000;

/**
 * Milliseconds to wait before the next attempt, or undefined where the schedule has no more.
 * @param waits LOMBARD_WEBHOOK_RETRIES
 * @param made attempts made in this round, from 1
 * @param retryAfter milliseconds the receiver asked for, which take the place of the schedule's wait
 * @param random from 0 up to 1
 */
export function nextWait(
  waits: readonly number[],
  made: number,
  retryAfter: number | undefined,
  random: number,
): number | undefined {
  const wait = waits[made - 1];
  if (wait === undefined) return undefined;
  if (retryAfter !== undefined) return Math.min(Math.max(retryAfter, MIN_RETRY_AFTER), MAX_RETRY_AFTER);
  return Math.round(wait * (1 - JITTER + 2 * JITTER * random));
}

/**
 * Milliseconds of a `Retry-After` header (RFC 9110, 10.2.3: seconds or an HTTP date), or undefined where there is none that is one.
 * @param now the present moment, to which a date is compared
 */
export function parseRetryAfter(value: string | string[] | undefined, now: Date): number | undefined {
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

import { nowMs } from './calendar.ts';
import { LombardError } from './error.ts';

/** The answers of a gateway that got none from the service. A request that changes nothing may then be sent again. */
const UNANSWERED = new Set([502, 503, 504]);
/** The first wait. It doubles each time, and is shortened at random, at most by half. */
const FIRST_WAIT_MS = 250;
const MAX_BACKOFF_MS = 8_000;
/** If a server asks for a longer wait, its answer is returned: nobody expects a call to take that long. */
const MAX_RETRY_AFTER_MS = 120_000;

/**
 * Whether a request may be sent again, and when. After 429 always, because nothing was done. After 502, 503, 504 and a lost connection only
 * if it changes nothing, because a change may have been made.
 * @param repeats the number of retries so far
 * @returns milliseconds to wait; undefined if it must not be repeated
 */
export function waitBeforeRepeatMs(
  result: Pick<Response, 'status' | 'headers'> | LombardError,
  reads: boolean,
  repeats: number,
): number | undefined {
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** repeats, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2);
  if (result instanceof LombardError) return reads && result.code === 'connection_lost' ? backoff : undefined;
  if (result.status !== 429 && !(reads && UNANSWERED.has(result.status))) return undefined;
  const asked = retryAfterMs(result.headers);
  if (asked === undefined) return backoff;
  return asked <= MAX_RETRY_AFTER_MS ? asked : undefined;
}

/** `Retry-After` in milliseconds: the header has seconds or a date (RFC 9110, 10.2.3). */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - nowMs());
}

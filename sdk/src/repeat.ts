import { nowMs } from './calendar.ts';
import { LombardError } from './error.ts';

/** What a gateway answers when the service did not: a request that changes nothing may be sent again. */
const UNANSWERED = new Set([502, 503, 504]);
/** The first wait, which doubles each time, and is shortened by chance to at least its half. */
const FIRST_WAIT_MS = 250;
const MAX_BACKOFF_MS = 8_000;
/** A server that asks for more than this gets its answer passed on: nobody expects a call to take longer. */
const MAX_RETRY_AFTER_MS = 120_000;

/**
 * Whether a request may be sent again, and when: after 429 always, as nothing was done; after 502, 503, 504 and a lost
 * connection only what changes nothing, as the change may have been made.
 * @param repeats how often it has been repeated
 * @returns milliseconds to wait; undefined: not again
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

/** `Retry-After`: seconds, or a moment (RFC 9110, 10.2.3). */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - nowMs());
}

import type { FastifyReply } from 'fastify';
import { BoundedMap } from '../bounded-map.ts';
import { monotonic } from '../calendar.ts';
import { Problem } from '../errors.ts';

const WINDOW_MS = 60_000;
/** Keys that are remembered; past it the oldest go first, so that a flood of addresses cannot fill the memory. */
const MAX_KEYS = 100_000;

interface Count {
  started: number;
  used: number;
}

/**
 * Counts requests of each key in windows of a minute, in this process: with several processes each allows its share
 * (`processes`). Answers carry the IETF RateLimit headers (draft-ietf-httpapi-ratelimit-headers).
 */
export class RateLimit {
  readonly #counts = new BoundedMap<string, Count>(MAX_KEYS);
  readonly #limit: number;
  readonly #policy: string;
  readonly #name: string;

  /** @param perMinute requests a minute for a key; 0: unlimited */
  constructor(name: string, perMinute: number, processes = 1) {
    this.#name = name;
    this.#limit = perMinute === 0 ? 0 : Math.max(1, Math.ceil(perMinute / processes));
    this.#policy = `"${name}";q=${this.#limit};w=${WINDOW_MS / 1000}`;
  }

  /**
   * Counts one request and sets the headers.
   * @throws Problem rate_limited, after the header Retry-After (seconds)
   */
  use(key: string, reply: FastifyReply): void {
    if (this.#limit === 0) return;
    const now = monotonic();
    let count = this.#counts.get(key);
    if (!count || now - count.started >= WINDOW_MS) {
      count = { started: now, used: 0 };
      this.#counts.set(key, count);
    }
    count.used += 1;
    const seconds = Math.max(1, Math.ceil((count.started + WINDOW_MS - now) / 1000));
    reply.header('ratelimit-policy', this.#policy);
    reply.header('ratelimit', `"${this.#name}";r=${Math.max(0, this.#limit - count.used)};t=${seconds}`);
    if (count.used > this.#limit) {
      reply.header('retry-after', String(seconds));
      throw new Problem(
        'rate_limited',
        `the limit is ${this.#limit} requests a minute; try again in ${seconds} seconds`,
      );
    }
  }
}

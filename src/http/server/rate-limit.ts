import type { FastifyReply } from 'fastify';
import type { RateCounts } from '../../database/rate-counts.ts';
import { BoundedMap } from '../../values/bounded-map.ts';
import { monotonic } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';

const WINDOW_MS = 60_000;
/** The most keys that are remembered. Beyond it the oldest are dropped, so that a flood of addresses cannot fill the memory. */
const MAX_KEYS = 100_000;
/**
 * The fraction of a limit that all processes together may count before they exchange counts. It is half of the fifth by which the limit may
 * be exceeded.
 */
const UNSHARED_PART = 0.1;
/** Milliseconds without exchanges after a failed one. */
const RETRY_AFTER_MS = 1_000;

/** The uses of a key in the current window. */
interface Count {
  endsAt: number;
  /** Uses in this process, and how many of them the other processes know. */
  own: number;
  shared: number;
  /** Uses in the other processes, from the last exchange. */
  others: number;
  sharing: Promise<void> | undefined;
  notBefore: number;
}

/**
 * Counts requests of each key in windows of one minute, over all processes. A process counts on its own and exchanges its count with the
 * others after every few requests, so most requests cost no query. All processes together allow at most a fifth above the limit. While the
 * database does not answer, each of several processes allows its part of that fifth. Answers carry the IETF RateLimit headers
 * (draft-ietf-httpapi-ratelimit-headers).
 */
export class RateLimit {
  readonly #counts = new BoundedMap<string, Count>(MAX_KEYS);
  readonly #exchange: RateCounts | undefined;
  readonly #limit: number;
  readonly #policy: string;
  readonly #name: string;
  readonly #kind: string;

  /**
   * @param name for the headers
   * @param perMinute requests a minute for a key; 0: unlimited
   * @param options `exchange`: with the other processes; `kind`: distinguishes limits of the same name
   */
  constructor(name: string, perMinute: number, options: { exchange: RateCounts | undefined; kind?: string }) {
    this.#name = name;
    this.#limit = perMinute;
    this.#exchange = options.exchange;
    this.#kind = options.kind ?? '';
    this.#policy = `"${name}";q=${this.#limit};w=${WINDOW_MS / 1000}`;
  }

  /**
   * Counts one request and sets the headers.
   * @throws Problem rate_limited, after the header Retry-After (seconds)
   */
  async use(key: string, reply: FastifyReply): Promise<void> {
    const refusal = await this.count(key, reply);
    if (refusal) throw refusal;
  }

  /** Like `use`, but returns the refusal, because the caller may have a reason to ignore it. */
  async count(key: string, reply: FastifyReply): Promise<Problem | undefined> {
    if (this.#limit === 0) return undefined;
    const count = this.#open(key);
    count.own += 1;
    const ordinal = count.own;
    while (count.others + ordinal <= this.#limit && this.#mustShare(count, ordinal)) {
      count.sharing ??= this.#share(key, count);
      await count.sharing;
    }
    const used = count.others + ordinal;
    const seconds = secondsUntil(count.endsAt);
    reply.header('ratelimit-policy', this.#policy);
    reply.header('ratelimit', `"${this.#name}";r=${Math.max(0, this.#limit - used)};t=${seconds}`);
    const over = used > this.#limit;
    if (!over && !this.#exceedsPart(count, ordinal)) return undefined;
    // A use that is refused only because the database is silent must not count: it will be allowed later.
    if (!over) count.own -= 1;
    const wait = over ? seconds : secondsUntil(count.notBefore);
    reply.header('retry-after', String(wait));
    return new Problem('rate_limited', `the limit is ${this.#limit} requests a minute; try again in ${wait} seconds`);
  }

  /** Takes back a use that is counted under another key instead. */
  takeBack(key: string): void {
    const count = this.#counts.get(key);
    if (count) count.own -= 1;
  }

  #open(key: string): Count {
    const now = monotonic();
    const open = this.#counts.get(key);
    if (open && now < open.endsAt) return open;
    const count = { endsAt: now + WINDOW_MS, own: 0, shared: 0, others: 0, sharing: undefined, notBefore: 0 };
    this.#counts.set(key, count);
    return count;
  }

  #mustShare(count: Count, ordinal: number): boolean {
    if (!this.#exchange || monotonic() < count.notBefore) return false;
    // An earlier use may have been taken back meanwhile.
    return Math.min(ordinal, count.own) - count.shared >= (this.#exchange.settled ? this.#unshared : 1);
  }

  /** The number of processes that count, including this one. */
  get #processes(): number {
    return this.#exchange?.processes ?? 1;
  }

  /** The number of uses that a process may count before it exchanges them. */
  get #unshared(): number {
    return Math.max(1, Math.floor((this.#limit * UNSHARED_PART) / this.#processes));
  }

  /**
   * The number of uses to exchange now. If many wait at once, those that will be refused must not count against the other processes. So an
   * exchange takes at most half of this process's share of the rest.
   */
  #toShare({ own, shared, others }: Count): number {
    const part = Math.floor((this.#limit - others - shared) / (2 * this.#processes));
    return Math.min(own - shared, Math.max(part, this.#unshared));
  }

  /**
   * Whether a use exceeds what a process may allow on its own. This applies only after a failed exchange, and if there are other processes.
   * All processes together then still allow at most a fifth above the limit.
   */
  #exceedsPart(count: Count, ordinal: number): boolean {
    if (!this.#exchange || monotonic() >= count.notBefore) return false;
    const part = Math.floor((2 * UNSHARED_PART * this.#limit) / this.#processes);
    return this.#processes > 1 && ordinal - count.shared > part;
  }

  async #share(key: string, count: Count): Promise<void> {
    const uses = this.#toShare(count);
    const left = Math.max(0, count.endsAt - monotonic());
    const all = await this.#exchange?.add(`${this.#name} ${this.#kind} ${key}`, uses, left);
    count.sharing = undefined;
    if (!all) {
      count.notBefore = monotonic() + RETRY_AFTER_MS;
      return;
    }
    count.shared += uses;
    count.others = Math.max(0, all.used - count.shared);
    count.endsAt = monotonic() + all.leftMs;
  }
}

function secondsUntil(moment: number): number {
  return Math.max(1, Math.ceil((moment - monotonic()) / 1000));
}

import { isIP, type LookupFunction } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import { monotonic } from '../calendar.ts';
import type { AddressRange } from '../config.ts';
import { AddressRules } from './address.ts';
import { Interruption, type Outcome } from './outcome.ts';
import { createResolver, type Resolve } from './resolver.ts';
import { ResponseReader } from './response.ts';

/** One request to a receiver. */
export interface OutgoingRequest {
  method: 'POST' | 'PUT';
  /** Already checked by the rules of its domain (subscription-rules.ts); not changed afterwards. */
  url: URL;
  /** Names and values in turns. */
  headers: string[];
  body: string | Buffer;
  /**
   * Whose connections it takes: by default, those that all requests to its origin share. undici looks for a free one among all that are
   * shared, so that an endpoint with many requests has its own.
   */
  connections?: string;
}

export interface EgressOptions {
  allow: readonly AddressRange[];
  /** Milliseconds for everything: name, connection, headers, body. */
  timeout: number;
  /** How names become addresses; by default as resolver.ts. */
  resolve?: Resolve;
}

/** Milliseconds without a request after which the connections to an origin are given up, and how often that is looked at. */
const IDLE_ORIGIN = 60_000;
const SWEEP_INTERVAL = 15_000;
/** Bytes of headers that a receiver may answer with. */
const MAX_HEADER_BYTES = 128 * 1024;
/** Origins with open pools at most. */
const MAX_ORIGINS = 5_000;

class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
}
class UnknownName extends Error {
  readonly code = 'UNKNOWN_NAME';
}
/** What is known of an address before anything is sent to it. */
interface Destination {
  origin: string;
  path: string;
  /** A literal address that may not be dialled: it would never reach the look-up. */
  blocked: boolean;
}
interface Origin {
  pool: Pool;
  lastUsed: number;
  underWay: number;
}

/**
 * Sends requests to addresses that strangers chose. Only public addresses are dialled, checked in the connection's own look-up, so
 * that no second answer of a name server can come in between; redirects are not followed; bodies are not inflated, and read up to 1 MiB.
 */
export class Egress {
  readonly #rules: AddressRules;
  readonly #resolve: Resolve;
  readonly #timeout: number;
  readonly #origins = new Map<string, Origin>();
  readonly #destinations = new WeakMap<URL, Destination>();
  /** In the order in which they began, which is that of their deadlines. */
  readonly #underWay = new Set<ResponseReader>();
  /** One timer for all, at the deadline of the oldest: one for each request would cost as much as choosing its connection. */
  #deadline: NodeJS.Timeout | undefined;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: EgressOptions) {
    this.#rules = new AddressRules(options.allow);
    this.#resolve = options.resolve ?? createResolver();
    this.#timeout = options.timeout;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_INTERVAL).unref();
  }

  /** Sends a request; never throws: what goes wrong is the outcome's reason. */
  send(request: OutgoingRequest): Promise<Outcome> {
    return new Promise((resolve) => this.dispatch(request, resolve));
  }

  /** As `send`, without a promise: the delivery engine's hot path. */
  dispatch(request: OutgoingRequest, done: (outcome: Outcome) => void): void {
    const started = monotonic();
    const destination = this.#destination(request.url);
    if (destination.blocked) {
      const durationMs = Math.round(monotonic() - started);
      done({ statusCode: null, headers: null, body: null, reason: 'blocked_address', durationMs });
      return;
    }
    const origin = this.#origin(destination.origin, `${request.connections ?? ''} ${destination.origin}`);
    origin.underWay += 1;
    const reader = new ResponseReader(started, (outcome) => {
      origin.underWay -= 1;
      origin.lastUsed = monotonic();
      this.#underWay.delete(reader);
      done(outcome);
    });
    this.#underWay.add(reader);
    this.#deadline ??= setTimeout(() => this.#endOverdue(), this.#timeout).unref();
    const options: Dispatcher.DispatchOptions = {
      path: destination.path,
      method: request.method,
      headers: request.headers,
      body: request.body,
    };
    try {
      origin.pool.dispatch(options, reader);
    } catch (error) {
      reader.fail(error as Error);
    }
  }

  #endOverdue(): void {
    this.#deadline = undefined;
    const now = monotonic();
    for (const reader of this.#underWay) {
      const left = reader.started + this.#timeout - now;
      if (left > 0) {
        this.#deadline = setTimeout(() => this.#endOverdue(), Math.ceil(left)).unref();
        return;
      }
      reader.fail(new Interruption('timeout'));
    }
  }

  /** Ends every request that is under way; each gets the reason `interrupted`. */
  interrupt(): void {
    for (const reader of [...this.#underWay]) reader.fail(new Interruption('interrupted'));
  }

  /** Ends what is under way and closes every connection. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.interrupt();
    clearTimeout(this.#deadline);
    const pools = [...this.#origins.values()].map((origin) => origin.pool.destroy());
    this.#origins.clear();
    await Promise.all(pools);
  }

  #destination(url: URL): Destination {
    let known = this.#destinations.get(url);
    if (!known) {
      const literal = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
      const blocked = isIP(literal) !== 0 && !this.#rules.allows(literal);
      known = { origin: url.origin, path: url.pathname + url.search, blocked };
      this.#destinations.set(url, known);
    }
    return known;
  }

  #origin(address: string, name: string): Origin {
    let origin = this.#origins.get(name);
    if (!origin) {
      if (this.#origins.size >= MAX_ORIGINS) this.#dropOldest();
      origin = { pool: this.#pool(address), lastUsed: monotonic(), underWay: 0 };
      this.#origins.set(name, origin);
    }
    return origin;
  }

  #pool(origin: string): Pool {
    const lookup: LookupFunction = (hostname, options, callback) => {
      this.#permitted(hostname).then(
        (addresses) => {
          if (options.all) callback(null, addresses);
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
        },
        (error: Error) => callback(error, []),
      );
    };
    return new Pool(origin, {
      pipelining: 1,
      connect: { lookup, timeout: this.#timeout },
      // One deadline of our own covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  }

  /** The addresses of a name that may be dialled. */
  async #permitted(hostname: string): Promise<{ address: string; family: number }[]> {
    let addresses: { address: string; family: number }[];
    try {
      addresses = await this.#resolve(hostname);
    } catch (error) {
      throw new UnknownName(hostname, { cause: error });
    }
    if (addresses.length === 0) throw new UnknownName(hostname);
    const permitted = addresses.filter(({ address }) => this.#rules.allows(address));
    if (permitted.length === 0) throw new BlockedAddress(hostname);
    return permitted;
  }

  #sweep(): void {
    const oldest = monotonic() - IDLE_ORIGIN;
    for (const [name, origin] of this.#origins) {
      if (origin.underWay === 0 && origin.lastUsed < oldest) this.#drop(name, origin);
    }
  }

  #dropOldest(): void {
    let oldest: [string, Origin] | undefined;
    for (const entry of this.#origins) {
      if (entry[1].underWay === 0 && (!oldest || entry[1].lastUsed < oldest[1].lastUsed)) oldest = entry;
    }
    if (oldest) this.#drop(...oldest);
  }

  #drop(name: string, origin: Origin): void {
    this.#origins.delete(name);
    void origin.pool.close().catch(() => undefined);
  }
}

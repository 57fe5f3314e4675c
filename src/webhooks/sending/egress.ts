import { isIP, type LookupFunction } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import type { AddressRange } from '../../settings/settings.ts';
import { monotonic } from '../../values/calendar.ts';
import { late } from '../../values/late.ts';
import { errorOf } from '../../values/unknown.ts';
import { AddressRules } from './address.ts';
import { Interruption, type Outcome } from './outcome.ts';
import { createResolver, type Resolve } from './resolver.ts';
import { ResponseReader } from './response.ts';

const undici = late((require) => require('undici') as typeof import('undici'));

/** One request to a receiver. */
export interface OutgoingRequest {
  method: 'POST' | 'PUT';
  /** Already checked by the rules of its domain (subscription-rules.ts). It must not be changed afterwards. */
  url: URL;
  /** Names and values alternating. */
  headers: string[];
  body: string | Buffer;
  /**
   * The name of the group of connections that it uses; by default all requests to one origin share theirs. undici searches the shared
   * connections for a free one, so an endpoint with many requests has its own.
   */
  connections?: string;
}

export interface EgressOptions {
  allow: readonly AddressRange[];
  /** For the whole exchange: name, connection, headers, body. */
  timeoutMs: number;
  /** How names become addresses; by default resolver.ts. */
  resolve?: Resolve;
}

/** Milliseconds without a request after which the connections to an origin are closed, and between two checks for such origins. */
const ORIGIN_IDLE_MS = 60_000;
const SWEEP_INTERVAL_MS = 15_000;
/** The most bytes of response headers. */
const MAX_HEADER_BYTES = 128 * 1024;
/** The most origins with an open pool. */
const MAX_ORIGINS = 5_000;

class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
}
class UnknownName extends Error {
  readonly code = 'UNKNOWN_NAME';
}
/** What is known about a URL before anything is sent to it. */
interface Destination {
  origin: string;
  path: string;
  /** Whether it contains an address that may not be dialled. Such an address needs no look-up, so no look-up would check it. */
  blocked: boolean;
}
interface Origin {
  pool: Pool;
  lastUsed: number;
  inFlight: number;
}

/**
 * Sends requests to addresses that strangers chose. It dials public addresses only. They are checked in the connection's own look-up, so a
 * name server cannot give another answer afterwards. Redirects are not followed. Bodies are not decompressed, and are read up to 1 MiB.
 */
export class Egress {
  readonly #rules: AddressRules;
  readonly #resolve: Resolve;
  readonly #timeoutMs: number;
  readonly #origins = new Map<string, Origin>();
  readonly #destinations = new WeakMap<URL, Destination>();
  /** In the order in which they began, which is also the order of their deadlines. */
  readonly #inFlight = new Set<ResponseReader>();
  /** A single timer, set to the deadline of the oldest request. A timer for each request would cost as much as choosing its connection. */
  #deadline: NodeJS.Timeout | undefined;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: EgressOptions) {
    this.#rules = new AddressRules(options.allow);
    this.#resolve = options.resolve ?? createResolver();
    this.#timeoutMs = options.timeoutMs;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
  }

  /** Sends a request. Never throws: a failure is the outcome's reason. */
  send(request: OutgoingRequest): Promise<Outcome> {
    return new Promise((resolve) => this.dispatch(request, resolve));
  }

  /** Like `send`, without a promise. This is the delivery engine's hot path. */
  dispatch(request: OutgoingRequest, done: (outcome: Outcome) => void): void {
    const started = monotonic();
    const destination = this.#destination(request.url);
    if (destination.blocked) {
      const durationMs = Math.round(monotonic() - started);
      done({ statusCode: null, headers: null, body: null, reason: 'blocked_address', durationMs });
      return;
    }
    const origin = this.#origin(destination.origin, `${request.connections ?? ''} ${destination.origin}`);
    origin.inFlight += 1;
    const reader = new ResponseReader(started, (outcome) => {
      origin.inFlight -= 1;
      origin.lastUsed = monotonic();
      this.#inFlight.delete(reader);
      done(outcome);
    });
    this.#inFlight.add(reader);
    this.#deadline ??= setTimeout(() => this.#endOverdue(), this.#timeoutMs).unref();
    const options: Dispatcher.DispatchOptions = {
      path: destination.path,
      method: request.method,
      headers: request.headers,
      body: request.body,
    };
    try {
      origin.pool.dispatch(options, reader);
    } catch (error) {
      reader.fail(errorOf(error));
    }
  }

  #endOverdue(): void {
    this.#deadline = undefined;
    const now = monotonic();
    for (const reader of this.#inFlight) {
      const left = reader.started + this.#timeoutMs - now;
      if (left > 0) {
        this.#deadline = setTimeout(() => this.#endOverdue(), Math.ceil(left)).unref();
        return;
      }
      reader.fail(new Interruption('timeout'));
    }
  }

  /** Ends every request in flight; each gets the reason `interrupted`. */
  interrupt(): void {
    for (const reader of [...this.#inFlight]) reader.fail(new Interruption('interrupted'));
  }

  /** Ends every request in flight and closes every connection. */
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
      origin = { pool: this.#pool(address), lastUsed: monotonic(), inFlight: 0 };
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
    return new (undici().Pool)(origin, {
      pipelining: 1,
      connect: { lookup, timeout: this.#timeoutMs },
      // #endOverdue enforces one deadline that covers both.
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
    const oldest = monotonic() - ORIGIN_IDLE_MS;
    for (const [name, origin] of this.#origins) {
      if (origin.inFlight === 0 && origin.lastUsed < oldest) this.#drop(name, origin);
    }
  }

  #dropOldest(): void {
    let oldest: [string, Origin] | undefined;
    for (const entry of this.#origins) {
      if (entry[1].inFlight === 0 && (!oldest || entry[1].lastUsed < oldest[1].lastUsed)) oldest = entry;
    }
    if (oldest) this.#drop(...oldest);
  }

  #drop(name: string, origin: Origin): void {
    this.#origins.delete(name);
    void origin.pool.close().catch(() => undefined);
  }
}

import { abortable, sleep, throwIfAborted } from './abort.ts';
import { LombardError } from './error.ts';
import { waitBeforeRepeatMs } from './repeat.ts';

/** A request to the service. */
export interface Outgoing {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** It changes nothing: it may be sent again when it is not known what became of it. */
  reads: boolean;
  signal?: AbortSignal | undefined;
}

/** An answer, read to its end. */
export interface Incoming {
  status: number;
  headers: Headers;
  bytes: Uint8Array<ArrayBuffer>;
}

/** An answer's body as text: UTF-8, without a byte order mark. */
export function textOf({ bytes }: Pick<Incoming, 'bytes'>): string {
  return new TextDecoder().decode(bytes);
}

export interface ExchangeSettings {
  fetch: typeof fetch;
  /** How often a request is repeated at most. */
  retries: number;
  /** For each attempt, its body included. */
  timeoutMs: number;
}

/** Longest wait that a timer knows; more is no limit. */
const MAX_TIMER_MS = 2_147_483_647;

/** Sends requests: with a time limit for each, and repeated where that is safe (README, What is repeated). */
export class Exchange {
  readonly #settings: ExchangeSettings;

  constructor(settings: ExchangeSettings) {
    this.#settings = settings;
  }

  /**
   * @returns the last answer, whatever its status
   * @throws LombardError `connection_lost`, `timeout`; AbortError
   */
  async send(outgoing: Outgoing): Promise<Incoming> {
    for (let repeats = 0; ; repeats += 1) {
      const result = await this.#attempt(outgoing);
      const wait = waitBeforeRepeatMs(result, outgoing.reads, repeats);
      if (repeats >= this.#settings.retries || wait === undefined) {
        if (result instanceof LombardError) throw result;
        return result;
      }
      await sleep(wait, outgoing.signal);
    }
  }

  /** One attempt; that no answer came whole is a result like others. */
  async #attempt({ url, signal, method, headers, body }: Outgoing): Promise<Incoming | LombardError> {
    throwIfAborted(signal);
    const { fetch, timeoutMs } = this.#settings;
    const controller = new AbortController();
    const stop = () => controller.abort();
    let timedOut = false;
    const limit = () => {
      timedOut = true;
      stop();
    };
    const timer = timeoutMs <= MAX_TIMER_MS ? setTimeout(limit, timeoutMs) : undefined;
    signal?.addEventListener('abort', stop, { once: true });
    const exchange = async () => {
      const response = await fetch(url.href, {
        method,
        headers,
        signal: controller.signal,
        ...(body === undefined ? {} : { body }),
      });
      return {
        status: response.status,
        headers: response.headers,
        bytes: new Uint8Array(await response.arrayBuffer()),
      };
    };
    try {
      // A fetch that was passed in may not know signals.
      return await abortable(exchange(), controller.signal);
    } catch (cause) {
      throwIfAborted(signal);
      const where = `${method} ${url.origin}${url.pathname}`;
      if (timedOut)
        return new LombardError({ code: 'timeout', details: `${where}: no answer within ${timeoutMs} ms`, cause });
      return new LombardError({ code: 'connection_lost', details: `${where}: no answer came`, cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }
}

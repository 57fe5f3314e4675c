import { abortable, sleep, throwIfAborted } from './abort.ts';
import { LombardError } from './error.ts';
import { waitBeforeRepeatMs } from './repeat.ts';

/** A request to the service. */
export interface Outgoing {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** True if it changes nothing: it may be sent again if its outcome is unknown. */
  reads: boolean;
  signal?: AbortSignal | undefined;
}

/** A complete answer. */
export interface Incoming {
  status: number;
  headers: Headers;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The body of an answer as text: UTF-8, without a byte order mark. */
export function textOf({ bytes }: Pick<Incoming, 'bytes'>): string {
  return new TextDecoder().decode(bytes);
}

export interface ExchangeSettings {
  fetch: typeof fetch;
  /** The maximum number of retries of a request. */
  retries: number;
  /** The time limit of each attempt, including its body. */
  timeoutMs: number;
}

/** The longest wait that a timer supports; a longer one counts as no limit. */
const MAX_TIMER_MS = 2_147_483_647;

/** Sends requests. Each has a time limit, and is retried if that is safe (README, What is repeated). */
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

  /** One attempt. A missing or partial answer is returned as an error. */
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
      // A custom fetch may not support signals.
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

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

/** Calls from pages. They use addresses of their own, with a cookie in place of a token, and stand for an operation of the listener. */
export class PageCalls {
  readonly #prefix: string;
  readonly #calls = new WeakSet<IncomingMessage>();

  /** @param prefix of the addresses that the pages call, such as `/app/api` */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The operation that a page's call stands for. The address of every other request stays unchanged. */
  rewriteUrl(request: IncomingMessage): string {
    const url = request.url ?? '/';
    if (!url.startsWith(`${this.#prefix}/`)) return url;
    this.#calls.add(request);
    return url.slice(this.#prefix.length);
  }

  has(request: FastifyRequest): boolean {
    return this.#calls.has(request.raw);
  }
}

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

/** Calls of pages: they come to an address of their own, with a cookie in place of a token, and mean an operation of the listener. */
export class PageCalls {
  readonly #prefix: string;
  readonly #calls = new WeakSet<IncomingMessage>();

  /** @param prefix of the addresses that the pages call, as `/app/api` */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The operation that a call of the pages means; the address of every other request stays as it is. */
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

import type { Answer, CallOptions } from './api.ts';
import { LombardError } from './error.ts';

/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** Of all pages. */
  total: number;
  /** From 1. */
  page: number;
  pageSize: number;
}

/** What a list is asked with: `page` is where iterating begins. */
interface Paging {
  page?: number;
  page_size?: number;
}

/** Asks for one page; all other parameters are settled. */
type ReadPage<T> = (paging: Paging, options: CallOptions) => Promise<Answer<T[]>>;

/** The service's page size where none is named. */
const DEFAULT_PAGE_SIZE = 50;

/**
 * A list that is read page by page: nothing is asked before it is iterated or a page or the total is asked for, and each time it
 * is iterated it is asked again.
 */
export class List<T> implements AsyncIterable<T> {
  readonly #read: ReadPage<T>;
  readonly #paging: Paging;
  readonly #options: CallOptions;

  constructor(read: ReadPage<T>, { page, page_size }: Paging = {}, options: CallOptions = {}) {
    this.#read = read;
    this.#paging = { ...(page === undefined ? {} : { page }), ...(page_size === undefined ? {} : { page_size }) };
    this.#options = options;
  }

  /** How many entries there are on all pages; asked anew each time it is read. */
  get total(): Promise<number> {
    return this.#ask({ page: 1, page_size: 1 }).then(({ total }) => total);
  }

  /**
   * @param n from 1; a page past the end has no items
   * @throws LombardError, AbortError
   */
  page(n = 1): Promise<Page<T>> {
    return this.#ask({ ...this.#paging, page: n });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let n = this.#paging.page ?? 1; ; n += 1) {
      const { items, total, pageSize } = await this.page(n);
      yield* items;
      if (items.length < pageSize || n * pageSize >= total) return;
    }
  }

  async #ask(paging: Paging & { page: number }): Promise<Page<T>> {
    const { status, headers, body } = await this.#read(paging, this.#options);
    const total = Number(headers.get('x-total-count') ?? Number.NaN);
    if (Number.isNaN(total)) {
      const details =
        'header x-total-count: is missing; a gateway in between, or its CORS settings, must let it through';
      throw new LombardError({
        status,
        code: 'invalid_response',
        details,
        requestId: headers.get('x-request-id') ?? undefined,
      });
    }
    return { items: body, total, page: paging.page, pageSize: paging.page_size ?? DEFAULT_PAGE_SIZE };
  }
}

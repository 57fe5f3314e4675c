import type { Answer, CallOptions } from './api.ts';
import { LombardError } from './error.ts';

/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** The number of entries on all pages. */
  total: number;
  /** Counted from 1. */
  page: number;
  pageSize: number;
}

/** The parameters of a list; iterating begins at `page`. */
interface Paging {
  page?: number;
  page_size?: number;
}

/** Fetches one page; all other parameters are fixed. */
type ReadPage<T> = (paging: Paging, options: CallOptions) => Promise<Answer<T[]>>;

/** The service's page size if none is given. */
const DEFAULT_PAGE_SIZE = 50;

/**
 * A list that is read page by page. Nothing is fetched until it is iterated, or a page or the total is requested. Each iteration fetches it
 * again.
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

  /** The number of entries on all pages; fetched each time it is read. */
  get total(): Promise<number> {
    return this.#ask({ page: 1, page_size: 1 }).then(({ total }) => total);
  }

  /**
   * @param n counted from 1; a page past the end has no items
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

import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';
import { List } from './list.ts';

export type Transaction = ResponseOf<'GET /transactions'>[number];
/** The filters, in the API's format, without `client_id`; `currencies` is required. */
export type TransactionQuery = InputOf<'GET /transactions'>['query'];

/** The transactions of the client's currency accounts. */
export class Transactions {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Lists them lazily, ordered by value date-time. */
  list(query: TransactionQuery, options: CallOptions = {}): List<Transaction> {
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /transactions', { query: { ...query, ...paging }, signal });
    return new List(read, query, options);
  }
}

import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';

export type Balance = ResponseOf<'GET /balances'>[number];

/** The balances of the client's currency accounts. */
export class Balances {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Three balances for each currency account: what is booked, what is available, and what open trades need. */
  async list(query: InputOf<'GET /balances'>['query'] = {}, { signal }: CallOptions = {}): Promise<Balance[]> {
    return (await this.#api.call('GET /balances', { query, signal })).body;
  }
}

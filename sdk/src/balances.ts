import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';

export type Balance = ResponseOf<'GET /balances'>[number];

/** What the client's currency accounts hold. */
export class Balances {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Three balances of each currency account: what is booked, what is available of it, what open trades need. */
  async list(query: InputOf<'GET /balances'>['query'] = {}, { signal }: CallOptions = {}): Promise<Balance[]> {
    return (await this.#api.call('GET /balances', { query, signal })).body;
  }
}

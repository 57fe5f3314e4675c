import type { Api, CallOptions, ResponseOf } from './api.ts';

export type Account = ResponseOf<'GET /accounts/{account_id}'>;
export type CurrencyAccount = ResponseOf<'GET /accounts/currency-accounts'>[number];

/** The client's accounts. */
export class Accounts {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The currency accounts. */
  async list({ signal }: CallOptions = {}): Promise<CurrencyAccount[]> {
    return (await this.#api.call('GET /accounts/currency-accounts', { signal })).body;
  }

  /** @param id the account's UUID */
  async get(id: string, { signal }: CallOptions = {}): Promise<Account> {
    return (await this.#api.call('GET /accounts/{account_id}', { path: { account_id: id }, signal })).body;
  }
}

import { sleep } from './abort.ts';
import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';

export type Account = ResponseOf<'GET /accounts/{account_id}'>;
export type CurrencyAccount = ResponseOf<'GET /accounts/currency-accounts'>[number];

type Statement = InputOf<'POST /accounts/{account_id}/statements/file'>;
/** The period of a statement, in the API's format: two date-times. The London days of both are included. */
export type StatementPeriod = Statement['body'];
/** The default is `pdf`. */
export type StatementFormat = NonNullable<NonNullable<Statement['query']>['format']>;

/** Waits between polls of a statement that is being made: the first one, which doubles each time, and the longest. */
const FIRST_LOOK_MS = 100;
const MAX_LOOK_MS = 2_000;
const ACCEPTED = 202;

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

  /** @param id the UUID of the account */
  async get(id: string, { signal }: CallOptions = {}): Promise<Account> {
    return (await this.#api.call('GET /accounts/{account_id}', { path: { account_id: id }, signal })).body;
  }

  /** The accounts with names and bank details; `list` gives the currency accounts. */
  async all(query: InputOf<'GET /accounts'>['query'] = {}, { signal }: CallOptions = {}): Promise<Account[]> {
    return (await this.#api.call('GET /accounts', { query, signal })).body;
  }

  /**
   * Requests a statement, waits until it is made, and downloads it.
   * @param id the number of a currency account, or the UUID of an account
   * @param options `signal` ends the wait; the idempotency key is for the request of the statement
   * @returns the bytes of the file
   */
  async statement(
    id: string | number,
    body: StatementPeriod,
    { format, ...options }: CallOptions & { format?: StatementFormat | undefined } = {},
  ): Promise<Uint8Array> {
    const account = { account_id: String(id) };
    const query = format === undefined ? {} : { format };
    const asked = { ...options, path: account, query, body };
    const { url } = (await this.#api.call('POST /accounts/{account_id}/statements/file', asked)).body;
    const path = { ...account, statement_id: new URL(url).pathname.split('/').at(-2) ?? '' };
    for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 2, MAX_LOOK_MS)) {
      const { signal } = options;
      const input = { path, signal };
      const { status, bytes } = await this.#api.file(
        'GET /accounts/{account_id}/statements/{statement_id}/file',
        input,
      );
      if (status !== ACCEPTED) return bytes;
      await sleep(wait, signal);
    }
  }
}

import { sleep } from './abort.ts';
import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';

export type Account = ResponseOf<'GET /accounts/{account_id}'>;
export type CurrencyAccount = ResponseOf<'GET /accounts/currency-accounts'>[number];

type Statement = InputOf<'POST /accounts/{account_id}/statements/file'>;
/** The period of a statement, as on the wire: date-times, of whose London days both are in it. */
export type StatementPeriod = Statement['body'];
/** `pdf` by default. */
export type StatementFormat = NonNullable<NonNullable<Statement['query']>['format']>;

/** Waits between looks at a statement that is being made: the first, which doubles, and the longest. */
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

  /** @param id the account's UUID */
  async get(id: string, { signal }: CallOptions = {}): Promise<Account> {
    return (await this.#api.call('GET /accounts/{account_id}', { path: { account_id: id }, signal })).body;
  }

  /** The accounts, with names and bank details; `list` gives the currency accounts. */
  async all(query: InputOf<'GET /accounts'>['query'] = {}, { signal }: CallOptions = {}): Promise<Account[]> {
    return (await this.#api.call('GET /accounts', { query, signal })).body;
  }

  /**
   * Has a statement made, waits for it and reads it.
   * @param id the number of a currency account, or an account's UUID
   * @param options `signal` ends the wait; the key is that of the request for the statement
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

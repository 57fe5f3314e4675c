import type { Api, CallOptions, InputOf, OrderOptions, ResponseOf } from './api.ts';
import { List } from './list.ts';

export type Trade = ResponseOf<'GET /trades/{trade_id}'>;
/** The data of a booking besides its quote, in the API's format. */
export type NewTrade = InputOf<'POST /trades'>['body'];
/** A drawdown of a window forward, in the API's format. */
export type NewDrawdown = InputOf<'POST /trades/{trade_id}/drawdowns'>['body'];
/** A trade that was booked, with the account to pay in to. */
export type BookedTrade = ResponseOf<'POST /trades'>;
/** What is left of a trade; its amounts are decimal texts. */
export type TradeFunds = ResponseOf<'GET /trades/{trade_id}/funds'>;
/** The filters of the list, in the API's format, without `client_id`. */
export type TradeQuery = NonNullable<InputOf<'GET /trades'>['query']>;

/** The client's trades. */
export class Trades {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Books an open quote. Each quote becomes one trade. @throws LombardError `quote_used`, `quote_expired` and others */
  async book(quoteId: string, body: NewTrade, options: OrderOptions = {}): Promise<BookedTrade> {
    return (await this.#api.call('POST /trades', { ...options, query: { quote_id: quoteId }, body })).body;
  }

  /** Lists trades lazily, in the order of their insertion. */
  list(query: TradeQuery = {}, options: CallOptions = {}): List<Trade> {
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /trades', { query: { ...query, ...paging }, signal });
    return new List(read, query, options);
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Trade> {
    return (await this.#api.call('GET /trades/{trade_id}', { path: { trade_id: id }, signal })).body;
  }

  /** What payments and drawdowns have left of a trade. */
  async funds(id: string, { signal }: CallOptions = {}): Promise<TradeFunds> {
    return (await this.#api.call('GET /trades/{trade_id}/funds', { path: { trade_id: id }, signal })).body;
  }

  /** Draws down part of a window forward at its rate. @throws LombardError */
  async drawdown(id: string, body: NewDrawdown, options: OrderOptions = {}): Promise<BookedTrade> {
    const input = { ...options, path: { trade_id: id }, body };
    return (await this.#api.call('POST /trades/{trade_id}/drawdowns', input)).body;
  }
}

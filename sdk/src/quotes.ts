import type { Api, CallOptions, InputOf, OrderOptions, ResponseOf } from './api.ts';

/** The request for a quote, in the API's format: the amount of one side, and the two currencies. */
export type NewQuote = InputOf<'POST /quotes'>['body'];
/** A rate that is guaranteed until `expires_at`. */
export type Quote = Extract<ResponseOf<'POST /quotes'>, { quote_id: string }>;
/** The current price of an exchange, without a guarantee. */
export type Estimate = Exclude<ResponseOf<'POST /quotes'>, Quote>;

/** Prices of exchanges. */
export class Quotes {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Asks for a rate that can be booked until it expires (`trades.book`). @throws LombardError */
  async create(body: NewQuote, options: OrderOptions = {}): Promise<Quote> {
    const answer = await this.#api.call('POST /quotes', { ...options, query: { quote_type: 'quote' }, body });
    return answer.body as Quote;
  }

  /** Asks what an exchange would cost. @throws LombardError */
  async estimate(body: NewQuote, { signal }: CallOptions = {}): Promise<Estimate> {
    const answer = await this.#api.call('POST /quotes', { query: { quote_type: 'estimate' }, body, signal }, true);
    return answer.body as Estimate;
  }

  /** The current state of a quote: open, used or expired. */
  async get(id: string, { signal }: CallOptions = {}): Promise<ResponseOf<'GET /quotes/{quote_id}'>> {
    return (await this.#api.call('GET /quotes/{quote_id}', { path: { quote_id: id }, signal })).body;
  }

  /** Whether FX can be initiated now. */
  async fxAvailable({ signal }: CallOptions = {}): Promise<boolean> {
    return (await this.#api.call('GET /quotes/fx-availability', { signal })).body.fx_available;
  }
}

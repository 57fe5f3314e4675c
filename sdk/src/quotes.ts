import type { Api, CallOptions } from './api.ts';

/** Foreign exchange. */
export class Quotes {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Whether FX can be initiated now. */
  async fxAvailable({ signal }: CallOptions = {}): Promise<boolean> {
    return (await this.#api.call('GET /quotes/fx-availability', { signal })).body.fx_available;
  }
}

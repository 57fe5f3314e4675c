import type { Api, CallOptions } from './api.ts';

/** The client's multi payments. */
export class Multipayments {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Rejects the trades of a multi payment and cancels its payments. */
  async reject(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#api.call('DELETE /multipayments/{multipayment_id}', { path: { multipayment_id: id }, signal });
  }
}

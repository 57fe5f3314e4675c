import type { Api } from './api.ts';
import { type DecisionOptions, given } from './payments.ts';

/** The client's multi payments. */
export class Multipayments {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Rejects the trades of a multi payment and cancels its payments. */
  async reject(id: string, { reason, signal }: DecisionOptions = {}): Promise<void> {
    const call = { path: { multipayment_id: id }, body: given({ reason }), signal };
    await this.#api.call('DELETE /multipayments/{multipayment_id}', call);
  }
}

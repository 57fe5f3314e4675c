import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';
import { List } from './list.ts';

export type Payment = ResponseOf<'GET /payments/{payment_id}'>;
/** The parameters of a search as on the wire, without `client_id`. */
export type PaymentQuery = NonNullable<InputOf<'GET /payments'>['query']>;
/** Which rule governs a payment, who approved it and who could be next. */
export type ApprovalExplanation = ResponseOf<'GET /payments/{payment_id}/approvals'>;

/** The client's payments. */
export class Payments {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Searches lazily: iterate it (again), or ask for a `page(n)` or the `total`. */
  search(query: PaymentQuery = {}, options: CallOptions = {}): List<Payment> {
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /payments', { query: { ...query, ...paging }, signal });
    return new List(read, query, options);
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Payment> {
    return (await this.#api.call('GET /payments/{payment_id}', { path: { payment_id: id }, signal })).body;
  }

  /** Approves a payment as the contact of the token. */
  async authorise(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#decide(id, 'authorise', signal);
  }

  /** Rejects a payment as the contact of the token. */
  async reject(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#decide(id, 'reject', signal);
  }

  /** Cancels a payment that has not been sent. */
  async cancel(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#api.call('DELETE /payments/{payment_id}', { path: { payment_id: id }, signal });
  }

  /** Says which rule governs a payment, and who could act next. */
  async approvals(id: string, { signal }: CallOptions = {}): Promise<ApprovalExplanation> {
    return (await this.#api.call('GET /payments/{payment_id}/approvals', { path: { payment_id: id }, signal })).body;
  }

  async #decide(id: string, action: 'authorise' | 'reject', signal: AbortSignal | undefined): Promise<void> {
    await this.#api.call('PATCH /payments/{payment_id}', { path: { payment_id: id }, query: { action }, signal });
  }
}

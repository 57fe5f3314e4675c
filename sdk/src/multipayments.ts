import type { Api, InputOf, OrderOptions, ResponseOf } from './api.ts';
import { type DecisionOptions, given } from './payments.ts';

/** The source of funds of the instructions, in the API's format, without `client_id`. */
export type MultipaymentQuery = Omit<NonNullable<InputOf<'POST /multipayments'>['query']>, 'validate_only'>;
/** One of many payments, in the API's format. */
export type NewInstruction = InputOf<'POST /multipayments'>['body'][number];
export type OrderedMultipayment = ResponseOf<'POST /multipayments'>;

/** The client's multi payments. */
export class Multipayments {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Orders many payments, with the exchanges that they need. Instructions that cannot be executed are in `invalid_payments`.
   * @throws LombardError `payments_invalid` if none can be executed, and others
   */
  async create(
    query: MultipaymentQuery,
    body: readonly NewInstruction[],
    options: OrderOptions = {},
  ): Promise<OrderedMultipayment> {
    return (await this.#api.call('POST /multipayments', { ...options, query, body: [...body] })).body;
  }

  /** Rejects the trades of a multi payment and cancels its payments. */
  async reject(id: string, { reason, signal }: DecisionOptions = {}): Promise<void> {
    const call = { path: { multipayment_id: id }, body: given({ reason }), signal };
    await this.#api.call('DELETE /multipayments/{multipayment_id}', call);
  }
}

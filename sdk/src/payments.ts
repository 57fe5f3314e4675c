import type { Api, CallOptions, InputOf, OrderOptions, ResponseOf } from './api.ts';
import { List } from './list.ts';

export type Payment = ResponseOf<'GET /payments/{payment_id}'>;
/** The parameters of a search, in the API's format, without `client_id`. */
export type PaymentQuery = NonNullable<InputOf<'GET /payments'>['query']>;
/** The rule that applies to a payment, who approved it, and who could be next. */
export type ApprovalExplanation = ResponseOf<'GET /payments/{payment_id}/approvals'>;

/** A challenge before an approval, for clients that require a verification code. */
export type Challenge = ResponseOf<'POST /payments/{payment_id}/challenges'>;

/** The body of an order, in the API's format: 1 to 50 payments from a trade or an account. */
export type NewPayments = InputOf<'POST /payments'>['body'];
/** A payment in the answer to its creation. */
export type CreatedPayment = ResponseOf<'POST /payments'>[number];
/** A decision on several payments, in the API's format. */
export type Decisions = InputOf<'PATCH /payments'>['body'];
/** The result of the decision on one payment. */
export type Decided = ResponseOf<'PATCH /payments'>[number];

/** Why a payment is approved, rejected or cancelled. The payment, its timeline and the audit trail show the reason. */
export interface DecisionOptions extends CallOptions {
  reason?: string | undefined;
}

/** With the answer to a challenge, if the client requires a verification code. */
export interface ApprovalOptions extends DecisionOptions {
  challengeId?: string | undefined;
  verificationCode?: string | undefined;
}

/** The fields of an object that have a value. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The client's payments. */
export class Payments {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Searches lazily: iterate the result (again), or ask for a `page(n)` or the `total`. */
  search(query: PaymentQuery = {}, options: CallOptions = {}): List<Payment> {
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /payments', { query: { ...query, ...paging }, signal });
    return new List(read, query, options);
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Payment> {
    return (await this.#api.call('GET /payments/{payment_id}', { path: { payment_id: id }, signal })).body;
  }

  /** Orders payments: all of them or none. @throws LombardError, whose `errors` list every fault of the body */
  async create(body: NewPayments, options: OrderOptions = {}): Promise<CreatedPayment[]> {
    return (await this.#api.call('POST /payments', { ...options, body })).body;
  }

  /**
   * Approves or rejects up to 200 payments as the contact of the token. Each is decided separately: a refused one does not affect the
   * others.
   * @returns the result for each, in the order sent
   */
  async decide(action: 'authorise' | 'reject', body: Decisions, { signal }: CallOptions = {}): Promise<Decided[]> {
    return (await this.#api.call('PATCH /payments', { query: { action }, body, signal })).body;
  }

  /** Approves a payment as the contact of the token. */
  async authorise(id: string, { reason, challengeId, verificationCode, signal }: ApprovalOptions = {}): Promise<void> {
    const body = { reason, challenge_id: challengeId, verification_code: verificationCode };
    await this.#decide(id, 'authorise', given(body), signal);
  }

  /** Rejects a payment as the contact of the token. */
  async reject(id: string, { reason, signal }: DecisionOptions = {}): Promise<void> {
    await this.#decide(id, 'reject', given({ reason }), signal);
  }

  /** Cancels a payment that has not been sent. */
  async cancel(id: string, { reason, signal }: DecisionOptions = {}): Promise<void> {
    await this.#api.call('DELETE /payments/{payment_id}', {
      path: { payment_id: id },
      body: given({ reason }),
      signal,
    });
  }

  /**
   * Opens a challenge for an approval. With SMS, it sends a code to the contact's phone.
   * @param id of a payment, or a list of up to 200 ids: one code approves them all (`decide`)
   */
  async challenge(id: string | readonly string[], options: CallOptions = {}): Promise<Challenge> {
    const { signal } = options;
    if (typeof id !== 'string')
      return (await this.#api.call('POST /payments/challenges', { ...options, body: { payment_ids: [...id] } })).body;
    return (await this.#api.call('POST /payments/{payment_id}/challenges', { path: { payment_id: id }, signal })).body;
  }

  /** Says which rule applies to a payment, and who could act next. */
  async approvals(id: string, { signal }: CallOptions = {}): Promise<ApprovalExplanation> {
    return (await this.#api.call('GET /payments/{payment_id}/approvals', { path: { payment_id: id }, signal })).body;
  }

  async #decide(
    id: string,
    action: 'authorise' | 'reject',
    body: NonNullable<InputOf<'PATCH /payments/{payment_id}'>['body']>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.#api.call('PATCH /payments/{payment_id}', { path: { payment_id: id }, query: { action }, body, signal });
  }
}

import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';
import { List } from './list.ts';

export type Payment = ResponseOf<'GET /payments/{payment_id}'>;
/** The parameters of a search as on the wire, without `client_id`. */
export type PaymentQuery = NonNullable<InputOf<'GET /payments'>['query']>;
/** Which rule governs a payment, who approved it and who could be next. */
export type ApprovalExplanation = ResponseOf<'GET /payments/{payment_id}/approvals'>;

/** A challenge before an approval, at clients that ask for a verification code. */
export type Challenge = ResponseOf<'POST /payments/{payment_id}/challenges'>;

/** Why a payment is approved, rejected or cancelled: the payment, its timeline and the audit trail show it. */
export interface DecisionOptions extends CallOptions {
  reason?: string | undefined;
}

/** With the answer to a challenge, where the client asks for a verification code. */
export interface ApprovalOptions extends DecisionOptions {
  challengeId?: string | undefined;
  verificationCode?: string | undefined;
}

/** The fields of a body that have a value. */
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

  /** Opens a challenge for an approval; with SMS it sends a code to the contact's phone. */
  async challenge(id: string, { signal }: CallOptions = {}): Promise<Challenge> {
    return (await this.#api.call('POST /payments/{payment_id}/challenges', { path: { payment_id: id }, signal })).body;
  }

  /** Says which rule governs a payment, and who could act next. */
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

/** One fault of an order's body: the service names them all. */
export interface BodyFault {
  code: string;
  message: string;
  /** Which field is wrong and what it must be; never a bank detail. */
  details: string;
  /** Which element of a list, from 0; null outside lists. */
  request_index: number | null;
}

/** What a `LombardError` is made of. */
export interface Failure {
  /** HTTP status, where there was an answer. */
  status?: number | undefined;
  /** The service's code, one of its catalogue, or one of the SDK's own (README, Errors). */
  code: string;
  /** What is wrong: the service names the field and what it must be. */
  details: string;
  /** `x-request-id` of the answer: the institution finds the request in its log by it. */
  requestId?: string | undefined;
  /** A short text in front of the details. */
  message?: string | undefined;
  errors?: readonly BodyFault[];
  cause?: unknown;
}

/**
 * Everything that the SDK rejects with, except an abort (an `AbortError`, as of `fetch`) and what is wrong with an argument (a
 * `TypeError`). The codes of the SDK itself: `connection_lost`, `timeout`, `invalid_response`, `signature_invalid`, `graphql_error`,
 * `status_unreachable`.
 */
export class LombardError extends Error {
  override readonly name = 'LombardError';
  readonly status: number | undefined;
  readonly code: string;
  readonly details: string;
  readonly requestId: string | undefined;
  /** All faults of an order's body, or all elements of its list that cause the refusal; empty where the service names none. */
  readonly errors: readonly BodyFault[];

  constructor({ status, code, details, requestId, message = code, errors = [], cause }: Failure) {
    super(`${message}: ${details}`, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.errors = errors;
  }
}

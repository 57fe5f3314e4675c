/** One fault in the body of an order. The service reports all of them. */
export interface BodyFault {
  code: string;
  message: string;
  /** The field that is wrong, and what it must be; never a bank detail. */
  details: string;
  /** The index of the list element, from 0; null outside lists. */
  request_index: number | null;
}

/** The fields of a `LombardError`. */
export interface Failure {
  /** The HTTP status, if there was an answer. */
  status?: number | undefined;
  /** The service's code, from its catalogue, or one of the SDK's own (README, Errors). */
  code: string;
  /** What is wrong: the service names the field, and what it must be. */
  details: string;
  /** `x-request-id` of the answer, by which the institution finds the request in its log. */
  requestId?: string | undefined;
  /** A short text before the details. */
  message?: string | undefined;
  errors?: readonly BodyFault[];
  cause?: unknown;
}

/**
 * The error of every failed call. Exceptions are an abort (`AbortError`, as with `fetch`) and a wrong argument (`TypeError`). The SDK's own
 * codes are `connection_lost`, `timeout`, `invalid_response`, `signature_invalid`, `graphql_error` and `status_unreachable`.
 */
export class LombardError extends Error {
  override readonly name = 'LombardError';
  readonly status: number | undefined;
  readonly code: string;
  readonly details: string;
  readonly requestId: string | undefined;
  /** All faults in the body of an order, or all list elements that caused the refusal. Empty if the service names none. */
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

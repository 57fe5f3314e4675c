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
  cause?: unknown;
}

/**
 * Everything that the SDK rejects with, except an abort (an `AbortError`, as of `fetch`) and what is wrong with an argument (a
 * `TypeError`). The codes of the SDK itself: `connection_lost`, `timeout`, `invalid_response`, `signature_invalid`, `graphql_error`.
 */
export class LombardError extends Error {
  override readonly name = 'LombardError';
  readonly status: number | undefined;
  readonly code: string;
  readonly details: string;
  readonly requestId: string | undefined;

  constructor({ status, code, details, requestId, message = code, cause }: Failure) {
    super(`${message}: ${details}`, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }
}

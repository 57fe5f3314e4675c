/** The error codes in use, with their HTTP status: from RFC 6749 (4.1.2.1, 5.2), RFC 6750, RFC 7009 and OpenID Connect Core (3.1.2.6). */
const STATUS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  unsupported_token_type: 400,
  invalid_scope: 400,
  access_denied: 400,
  login_required: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  invalid_token: 401,
  temporarily_unavailable: 429,
  server_error: 502,
} as const;

export type OAuthErrorCode = keyof typeof STATUS;

/** The most characters of a caller's address that a refusal shows. */
const MAX_SHOWN_LENGTH = 200;

/** The words in which a refusal shows the address that it got instead of an expected one. */
export function received(address: string): string {
  return `; received "${address.slice(0, MAX_SHOWN_LENGTH)}${address.length > MAX_SHOWN_LENGTH ? '...' : ''}"`;
}

/** The refusals that a page explains in the reader's language (http/auth/pages/texts.ts). */
export type Refusal =
  | 'wrong_password'
  | 'wrong_code'
  | 'locked'
  | 'expired'
  | 'foreign'
  | 'text_too_soon'
  | 'text_failed';

/** A refusal of the authorization server: `{error, error_description}` (docs/decisions.md, 7). */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** Seconds after which the caller may try again. */
  readonly retryAfter: number | undefined;
  readonly refusal: Refusal | undefined;

  /** @param description one line of printable ASCII for the application's developer (RFC 6749, 5.2). It must not reveal whether an email exists */
  constructor(
    code: OAuthErrorCode,
    description: string,
    options: { status?: number; retryAfter?: number | undefined; refusal?: Refusal; cause?: unknown } = {},
  ) {
    super(description, { cause: options.cause });
    this.name = 'OAuthError';
    this.code = code;
    this.status = options.status ?? STATUS[code];
    this.retryAfter = options.retryAfter;
    this.refusal = options.refusal;
  }
}

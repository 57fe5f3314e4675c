/**
 * Every error that Lombard tells a caller: one closed catalogue (docs/errors.md; docs/decisions.md, 1).
 * The short text is the `message` of the ErrorMessage body; `details` names the field and what it must be.
 * The HTTP status of each code is in http/problem.ts, once.
 */
export const MESSAGES = {
  invalid_parameter: 'A parameter is not valid',
  missing_parameter: 'A required parameter is missing',
  invalid_body: 'The request body is not valid',
  unsupported_media_type: 'The content type is not supported',
  payload_too_large: 'The request body is too large',
  authentication_failed: 'The access token is missing, malformed, unknown or revoked',
  token_expired: 'The access token has expired',
  contact_mismatch: 'The contact is not the one who makes the request',
  permission_denied: 'The contact may not do this',
  client_disabled: 'The client is disabled',
  client_not_found: 'There is no such client',
  contact_not_found: 'There is no such contact',
  application_not_found: 'There is no such application',
  beneficiary_not_found: 'There is no such beneficiary',
  trade_not_found: 'There is no such trade',
  payment_not_found: 'There is no such payment',
  account_not_found: 'There is no such account',
  currency_account_not_found: 'There is no such currency account',
  multipayment_not_found: 'There is no such multi payment',
  document_not_found: 'There is no such document',
  mass_beneficiary_not_found: 'There is no such mass-beneficiary instruction',
  subscription_not_found: 'There is no such subscription',
  notification_not_found: 'There is no such notification',
  operator_token_not_found: 'There is no such operator token',
  statement_not_found: 'There is no such statement request',
  already_exists: 'An entity with this identifier exists',
  already_rejected: 'It has been rejected before',
  transition_not_allowed: 'The present status does not allow this',
  approval_not_allowed: 'This contact may not act on this payment now',
  ruleset_unsatisfiable: 'A rule of the configuration can never be satisfied',
  exchange_rate_missing: 'No exchange rate is known for a pair that is needed',
  fx_not_enabled: 'The client may not trade FX',
  statement_push_not_configured: 'The client has no address for pushed statements',
  statement_period_too_long: 'The statement period is too long',
  idempotency_conflict: 'The idempotency key was used with another request',
  rate_limited: 'Too many requests',
  not_found: 'There is nothing at this address',
  method_not_allowed: 'The method is not allowed here',
  certificate_invalid: 'The client certificate is not accepted',
  certificate_missing: 'A client certificate is required',
  https_required: 'The connection must be made over HTTPS',
  integration_error: 'Something that the service depends on has failed',
} as const;

export type ErrorCode = keyof typeof MESSAGES;

/** A field that a refusal names, and what it must be. */
export interface Fault {
  /** Path of the field within what the caller gave: `page_size`, `rules[1].minimum_threshold`; a header begins with a capital. */
  field: string;
  message: string;
}

/**
 * A refusal that the caller can understand. Domains name the field. The HTTP listeners know its place in the request and add it:
 * `body.`, `query.`, `path.` or `header.` (http/problem.ts).
 * @param code one of the catalogue
 * @param fault the field and what it must be, or a sentence if no single field is at fault; never SQL, a stack or a path of the machine
 */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly fault: Fault | undefined;
  /** The sentence that the caller reads. */
  readonly details: string;

  constructor(code: ErrorCode, fault: Fault | string, options?: { cause?: unknown }) {
    const details = typeof fault === 'string' ? fault : `${fault.field}: ${fault.message}`;
    super(`${MESSAGES[code]}: ${details}`, options);
    this.name = 'Problem';
    this.code = code;
    this.fault = typeof fault === 'string' ? undefined : fault;
    this.details = details;
  }

  /** The same refusal with a place in front of its field, as `body`. A refusal that names no field is returned as it is. */
  within(place: string): Problem {
    if (!this.fault) return this;
    return new Problem(this.code, `${place}.${this.details}`, { cause: this.cause });
  }
}

/** A wrong setting or an unusable machine stops the start. The message is one line for the person who started the service. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

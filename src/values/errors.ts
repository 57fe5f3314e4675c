/**
 * Every error that Lombard reports to a caller, in one closed catalogue (docs/errors.md; docs/decisions.md, 1). The short text is the
 * `message` of the ErrorMessage body; `details` names the field and what it must be. http/schemas/problem.ts has the HTTP status of each
 * code.
 */
export const MESSAGES = {
  invalid_parameter: 'A parameter is not valid',
  missing_parameter: 'A required parameter is missing',
  invalid_body: 'The request body is not valid',
  malformed_request: 'The request is not valid HTTP',
  request_timeout: 'The request did not arrive in time',
  expectation_failed: 'The expectation cannot be met',
  headers_too_large: 'The headers of the request are too large',
  unsupported_media_type: 'The content type is not supported',
  payload_too_large: 'The request body is too large',
  authentication_failed: 'The token is missing, malformed, unknown or revoked',
  token_expired: 'The token has expired',
  contact_mismatch: 'The contact is not the contact of the access token',
  permission_denied: 'The contact or token may not do this',
  client_disabled: 'The client is disabled',
  client_not_found: 'The client does not exist',
  contact_not_found: 'The contact does not exist',
  application_not_found: 'The application does not exist',
  beneficiary_not_found: 'The beneficiary does not exist',
  trade_not_found: 'The trade does not exist',
  payment_not_found: 'The payment does not exist',
  account_not_found: 'The account does not exist',
  transaction_not_found: 'The transaction does not exist',
  currency_account_not_found: 'The currency account does not exist',
  multipayment_not_found: 'The multi payment does not exist',
  document_not_found: 'The document does not exist',
  mass_beneficiary_not_found: 'The mass-beneficiary instruction does not exist',
  subscription_not_found: 'The subscription does not exist',
  consumer_not_found: 'The consumer does not exist',
  notification_not_found: 'The notification does not exist',
  operator_token_not_found: 'The operator token does not exist',
  onboarding_event_not_found: 'The onboarding event does not exist',
  statement_not_found: 'The statement request does not exist',
  quote_not_found: 'The quote does not exist',
  mass_payment_not_found: 'The mass payment does not exist',
  payment_initiation_not_found: 'The payment initiation does not exist',
  bank_account_not_found: 'The bank account does not exist',
  account_details_not_found: 'The account details do not exist',
  hold_not_found: 'The hold does not exist',
  import_not_found: 'The import does not exist',
  erasure_not_found: 'The erasure does not exist',
  contact_not_disabled: 'The contact is not disabled',
  already_exists: 'An entity with this identifier already exists',
  already_rejected: 'It is already rejected',
  second_factor_missing: 'The contact has no second factor',
  step_up_required: 'This client approves payments with a verification code',
  step_up_failed: 'The verification code is wrong',
  challenge_expired: 'The challenge is no longer good for this payment',
  transition_not_allowed: 'The current status does not allow this',
  insufficient_funds: 'The account does not have enough money available',
  trade_amount_exceeded: 'The trade does not have enough left',
  trade_not_open: 'The trade takes no more payments',
  currency_mismatch: 'The currencies do not agree',
  currency_not_allowed: 'The currency is not allowed',
  limit_exceeded: 'The limit of the day is exceeded',
  amount_out_of_range: 'The amount is out of range',
  rate_moved: 'The rate is worse than what was accepted',
  version_mismatch: 'The record has changed since',
  beneficiary_blocked: 'The beneficiary is blocked',
  beneficiary_duplicate: 'The beneficiary exists already',
  beneficiary_in_use: 'The beneficiary is in use',
  quote_expired: 'The quote has expired',
  quote_used: 'The quote is used',
  fx_closed: 'FX is closed now',
  exchange_rate_stale: 'The exchange rate is too old',
  payments_invalid: 'Some of the payments are not valid',
  cursor_behind: 'The cursor is before the acknowledged one',
  cursor_expired: 'The changes that follow are no longer kept',
  approval_not_allowed: 'The contact may not act on this payment now',
  ruleset_unsatisfiable: 'A rule of the configuration can never be satisfied',
  exchange_rate_missing: 'An exchange rate that is needed is missing',
  fx_not_enabled: 'The client may not trade FX',
  statement_push_not_configured: 'The client has no address for pushed statements',
  statement_period_too_long: 'The statement period is too long',
  idempotency_conflict: 'The idempotency key was used for another request',
  rate_limited: 'Too many requests',
  not_found: 'Nothing is served at this address',
  method_not_allowed: 'The method is not allowed at this address',
  certificate_invalid: 'The client certificate is not accepted',
  certificate_missing: 'A client certificate is required',
  https_required: 'The connection must use HTTPS',
  interrupted: 'The service cannot do the request now',
  integration_error: 'Something that the service depends on has failed',
} as const;

export type ErrorCode = keyof typeof MESSAGES;

/** What can be wrong with a field of an order's body (instructions, 2 and 4). */
export const FAULTS = {
  required: 'A required field is missing',
  unknown_field: 'The field is not known',
  invalid_format: 'The value is not valid',
  invalid_iban: 'The IBAN is not valid',
  invalid_bic: 'The BIC is not valid',
  iban_country_mismatch: 'The IBAN is of another country than the bank',
  bic_country_mismatch: 'The BIC is of another country than the bank',
  invalid_sort_code: 'The sort code is not valid',
  invalid_aba: 'The ABA routing number is not valid',
  invalid_clabe: 'The CLABE is not valid',
  invalid_account_number: 'The account number is not valid',
  invalid_bank_identifier: 'The bank identifier is not valid',
  details_disagree: 'The bank details disagree',
  invalid_country: 'The country is not valid',
  invalid_currency: 'The currency is not valid',
  duplicate_row: 'An earlier row is the same',
} as const;
export type FaultCode = keyof typeof FAULTS;

/** A fault of one field, or of one element of a list, as a refusal lists it. */
export interface ListedFault {
  code: FaultCode | ErrorCode;
  message: string;
  /** The path of the field, and what it must be. It never repeats a bank detail. */
  details: string;
  /** The element of the list, from 0; null outside lists. */
  request_index: number | null;
}

/** The most faults that one refusal lists. */
export const MAX_LISTED_FAULTS = 1_000;

/** The field that an error names, and what it must be. */
export interface Fault {
  /** Path of the field within the caller's input: `page_size`, `rules[1].minimum_threshold`. The name of a header begins with a capital. */
  field: string;
  message: string;
}

/**
 * A refusal that the caller can understand. Domains name the field. The HTTP listeners know its place in the request and add it: `body.`,
 * `query.`, `path.` or `header.` (http/schemas/problem.ts).
 * @param code one of the catalogue
 * @param fault the field and what it must be, or a sentence if no single field is at fault; never SQL, a stack or a path of the machine
 */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly fault: Fault | undefined;
  /** The sentence that the caller reads. */
  readonly details: string;
  /** All faults, if the refusal lists more than one. */
  readonly listed: readonly ListedFault[] | undefined;
  /** Seconds after which the caller may try again, if a limit caused the refusal. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    fault: Fault | string,
    options: { cause?: unknown; retryAfterSeconds?: number | undefined; listed?: readonly ListedFault[] } = {},
  ) {
    const details = typeof fault === 'string' ? fault : `${fault.field}: ${fault.message}`;
    // A refusal is an ordinary answer, and nobody reads its stack. If an inner error caused it, that is its `cause`. Writing the stack took
    // a sixth of the time of a plain 401.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`${MESSAGES[code]}: ${details}`, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Problem';
    this.code = code;
    this.listed = options.listed;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.fault = typeof fault === 'string' ? undefined : fault;
    this.details = details;
  }

  /** The same refusal with a place in front of its field, for example `body`. A refusal that names no field is returned unchanged. */
  within(place: string): Problem {
    if (!this.fault) return this;
    return new Problem(this.code, `${place}.${this.details}`, { cause: this.cause });
  }
}

/** A fault of a field in the body of an order. */
export interface BodyFault extends Fault {
  code: FaultCode;
  /** The element of the list that has the fault. */
  index?: number | undefined;
}

/**
 * Refuses a body and lists all its faults. The details describe the first one.
 * @param faults at least one, in the order of the elements; `field` is the whole path within the body
 */
export function refusedBody(faults: readonly BodyFault[]): Problem {
  const listed = faults.map(({ code, field, message, index }) => ({
    code,
    message: FAULTS[code],
    details: `body${field === '' || field.startsWith('[') ? '' : '.'}${field}: ${message}`,
    request_index: index ?? null,
  }));
  return withFaults('invalid_body', listed);
}

/**
 * Refuses a whole list. The refusal has the code that comes first in `order`, and lists every element that causes it.
 * @param list the field of the body that is the list, such as `payments`
 * @param refused the refusal of each element that is refused, at least one
 * @param order the codes in the order in which the operation reports them
 */
export function refusedElements(
  list: string,
  refused: ReadonlyMap<number, Problem>,
  order: readonly ErrorCode[],
): Problem {
  const rank = ({ code }: Problem) => order.indexOf(code) + (order.includes(code) ? 0 : order.length + 1);
  const all = [...refused].toSorted(([one], [other]) => one - other);
  const first = all.reduce((best, each) => (rank(each[1]) < rank(best[1]) ? each : best))[1];
  const listed = all
    .filter(([, { code }]) => code === first.code)
    .map(([index, { code, details, fault }]) => ({
      code,
      message: MESSAGES[code],
      details: fault ? `body.${list}[${index}].${details}` : details,
      request_index: index,
    }));
  return withFaults(first.code, listed);
}

function withFaults(code: ErrorCode, listed: readonly ListedFault[]): Problem {
  return new Problem(code, listed[0]?.details ?? '', { listed: listed.slice(0, MAX_LISTED_FAULTS) });
}

/** The result of a function, or the Problem that it throws. */
export function attempt<T>(work: () => T): T | Problem {
  try {
    return work();
  } catch (error) {
    return refusalOf(error);
  }
}

/** Returns the refusal that was thrown. @throws any other error */
export function refusalOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** The refusal with the lowest index, for lists that are all or nothing. If several maps refuse the same index, the first map decides. */
export function firstRefusal(...refused: ReadonlyMap<number, Problem>[]): Problem | undefined {
  const index = Math.min(...refused.flatMap((each) => [...each.keys()]));
  return refused.find((each) => each.has(index))?.get(index);
}

/** A wrong setting or an unusable machine, which stops the start. The message is one line for the person who started the service. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

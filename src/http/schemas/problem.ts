import type { FastifyRequest } from 'fastify';
import { databaseFault } from '../../database/fault.ts';
import { UnknownOutcome } from '../../database/lost-commit.ts';
import { type ErrorCode, type ListedFault, MESSAGES, Problem } from '../../values/errors.ts';
import { present } from '../../values/unknown.ts';

/** The HTTP status of each error code (docs/errors.md). No other file maps codes to statuses. */
export const STATUS: Record<ErrorCode, number> = {
  invalid_parameter: 400,
  missing_parameter: 400,
  invalid_body: 400,
  malformed_request: 400,
  request_timeout: 408,
  expectation_failed: 417,
  headers_too_large: 431,
  unsupported_media_type: 415,
  payload_too_large: 413,
  authentication_failed: 401,
  token_expired: 401,
  contact_mismatch: 403,
  permission_denied: 403,
  client_disabled: 403,
  client_not_found: 404,
  contact_not_found: 404,
  application_not_found: 404,
  beneficiary_not_found: 404,
  trade_not_found: 404,
  payment_not_found: 404,
  account_not_found: 404,
  transaction_not_found: 404,
  currency_account_not_found: 404,
  multipayment_not_found: 404,
  document_not_found: 404,
  mass_beneficiary_not_found: 404,
  subscription_not_found: 404,
  consumer_not_found: 404,
  notification_not_found: 404,
  operator_token_not_found: 404,
  onboarding_event_not_found: 404,
  statement_not_found: 404,
  quote_not_found: 404,
  mass_payment_not_found: 404,
  payment_initiation_not_found: 404,
  bank_account_not_found: 404,
  account_details_not_found: 404,
  hold_not_found: 404,
  import_not_found: 404,
  erasure_not_found: 404,
  contact_not_disabled: 409,
  already_exists: 409,
  already_rejected: 409,
  second_factor_missing: 403,
  step_up_required: 403,
  step_up_failed: 403,
  challenge_expired: 403,
  transition_not_allowed: 409,
  insufficient_funds: 409,
  trade_amount_exceeded: 409,
  trade_not_open: 409,
  currency_mismatch: 409,
  currency_not_allowed: 409,
  limit_exceeded: 409,
  amount_out_of_range: 409,
  rate_moved: 409,
  version_mismatch: 409,
  beneficiary_blocked: 409,
  beneficiary_duplicate: 409,
  beneficiary_in_use: 409,
  quote_expired: 409,
  quote_used: 409,
  fx_closed: 409,
  exchange_rate_stale: 409,
  payments_invalid: 409,
  cursor_behind: 409,
  cursor_expired: 410,
  approval_not_allowed: 409,
  ruleset_unsatisfiable: 409,
  exchange_rate_missing: 409,
  fx_not_enabled: 409,
  statement_push_not_configured: 403,
  statement_period_too_long: 400,
  idempotency_conflict: 409,
  rate_limited: 429,
  not_found: 404,
  method_not_allowed: 405,
  certificate_invalid: 495,
  certificate_missing: 496,
  https_required: 497,
  interrupted: 503,
  integration_error: 502,
};

export interface ErrorMessage {
  code: ErrorCode;
  message: string;
  details: string;
  /** All faults of a refused order. The other fields describe the first one. */
  errors?: readonly ListedFault[];
}

/** The body of an error (service interface, Error body). */
export function errorMessage(problem: Problem): ErrorMessage {
  const { code, details, listed } = problem;
  // A list of instructions has faults of many kinds, so the message for the whole is the code's own.
  const message = (code === 'payments_invalid' ? undefined : listed?.[0]?.message) ?? MESSAGES[code];
  return { code, message, details, ...(listed && { errors: listed }) };
}

/** Database constraints that a request can violate, by name: the error code, the field, and what is wrong with it. */
const CONSTRAINTS: Record<string, [ErrorCode, string, string]> = {
  clients_pkey: ['already_exists', 'client_id', 'is already in use'],
  contacts_pkey: ['already_exists', 'contact_id', 'is already in use'],
  contacts_email: ['already_exists', 'email', 'is already in use'],
  applications_pkey: ['already_exists', 'client_id', 'is already in use'],
  accounts_pkey: ['already_exists', 'account_id', 'is already in use'],
  currency_accounts_client_id_currency_key: [
    'already_exists',
    'currency',
    'the client already has an account in this currency',
  ],
  beneficiaries_pkey: ['already_exists', 'beneficiary_id', 'is already in use'],
  trades_external_reference: [
    'already_exists',
    'external_reference_id',
    'the client has a trade with this reference already',
  ],
  trades_pkey: ['already_exists', 'trade_id', 'is already in use'],
  payments_uuid_key: ['already_exists', 'uuid', 'is already the uuid of another payment'],
  payments_payment_id_key: ['already_exists', 'payment_id', 'is already in use'],
  multipayments_multipayment_unique_id_key: ['already_exists', 'multipayment_unique_id', 'is already in use'],
  mass_beneficiaries_pkey: ['already_exists', 'mass_beneficiary_id', 'is already in use'],
  transactions_transaction_id_key: ['already_exists', 'transaction_id', 'is already in use'],
  trades_client_id_parent_trade_id_fkey: ['trade_not_found', 'parent_trade_id', 'does not exist for this client'],
};

/**
 * Adds to a domain's refusal the part of the request that contains its field. The route shows whether that is the body, the path or the
 * query. A name that begins with a capital letter is a header.
 * @returns the Problem with `body.`, `path.`, `query.` or `header.` before its field; the Problem itself if the request has no such field
 */
export function locate(problem: Problem, request: FastifyRequest): Problem {
  if (!problem.fault) return problem;
  const name = present(problem.fault.field.split(/[.[]/, 1)[0]);
  const place = placeOf(name, request.routeOptions);
  return place === undefined ? problem : problem.within(place);
}

type Described = { properties?: Record<string, unknown> } | undefined;

function placeOf(name: string, { url = '', schema }: FastifyRequest['routeOptions']): string | undefined {
  if (/^[A-Z]/.test(name)) return 'header';
  const body = schema?.body as Described;
  if (body?.properties && name in body.properties) return 'body';
  if (url.split('/').includes(`:${name}`)) return 'path';
  const query = schema?.querystring as Described;
  if (query?.properties && name in query.properties) return 'query';
  return body ? 'body' : undefined;
}

interface Violation {
  code?: string;
  table?: string | undefined;
  column?: string | undefined;
  constraint?: string | undefined;
}

const VIOLATED = {
  table: / (?:of )?relation "(\w+)"/,
  column: /^null value in column "(\w+)"/,
  constraint: / constraint "(\w+)"/,
};
/** What Citus appends to the names of a table's shards and their constraints. */
const SHARD = /_\d{6,}$/;

/** SQLSTATE of what a worker refuses within an `insert ... select`. Citus runs it with COPY and reports an internal error. */
const REFUSALS: [RegExp, string][] = [
  [/^duplicate key value violates unique/, '23505'],
  [/ violates foreign key /, '23503'],
  [/ violates check /, '23514'],
  [/ violates not-null /, '23502'],
];

/** What a statement has violated. Citus passes on a worker's error without its fields, so they are taken from the message. */
function violationOf(error: unknown): Violation {
  const { code = '', message, ...named } = error as Violation & { message: string };
  const state = code === 'XX000' ? REFUSALS.find(([said]) => said.test(message))?.[1] : code;
  if (!state?.startsWith('23') || named.constraint !== undefined || named.column !== undefined)
    return { ...named, code };
  const name = (what: keyof typeof VIOLATED) => VIOLATED[what].exec(message)?.[1]?.replace(SHARD, '');
  return { code: state, table: name('table'), column: name('column'), constraint: name('constraint') };
}

/** The field of a violated check (its constraint is named `<table>_<field>_check`), or of a forbidden null (PostgreSQL, appendix A). */
function fieldOfCheck({ code, table = '', column, constraint = '' }: Violation): string | undefined {
  if (code === '23502') return column;
  if (code !== '23514') return undefined;
  return constraint.startsWith(`${table}_`) ? constraint.slice(table.length + 1).replace(/_check$/, '') : constraint;
}

/**
 * The part of a failure that a caller learns: its own Problem; or the name of a constraint or value that the database refused; or
 * `integration_error` for everything that the caller cannot correct. The cause of the latter goes only to the log.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const violation = violationOf(error);
  const { code = '', constraint = '' } = violation;
  const violated = CONSTRAINTS[constraint];
  if (violated) {
    const [problem, field, message] = violated;
    return new Problem(problem, { field, message }, { cause: error });
  }
  const field = fieldOfCheck(violation);
  if (field !== undefined)
    return new Problem('invalid_body', { field, message: 'is not a value that can be stored' }, { cause: error });
  if (code === '23505')
    return new Problem('already_exists', 'an entity with this identifier already exists', { cause: error });
  if (code === '23503')
    return new Problem('invalid_parameter', 'an identifier names an entity that does not exist', { cause: error });
  if (/^22/.test(code))
    return new Problem('invalid_parameter', 'a value is out of the range that can be stored', { cause: error });
  if (error instanceof UnknownOutcome)
    return new Problem(
      'integration_error',
      'the answer of the database was lost, and it does not say whether this stands: look before you try again',
      { cause: error },
    );
  const fault = databaseFault(error);
  if (fault) return new Problem('integration_error', `${fault}; try again in a moment`, { cause: error });
  return new Problem(
    'integration_error',
    'the request could not be completed; the log has the reason under its request id',
    { cause: error },
  );
}

import type { FastifyRequest } from 'fastify';
import { type ErrorCode, MESSAGES, Problem } from '../errors.ts';

/** The HTTP status of each error code: the only place where one becomes the other (docs/errors.md). */
export const STATUS: Record<ErrorCode, number> = {
  invalid_parameter: 400,
  missing_parameter: 400,
  invalid_body: 400,
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
  currency_account_not_found: 404,
  multipayment_not_found: 404,
  document_not_found: 404,
  mass_beneficiary_not_found: 404,
  subscription_not_found: 404,
  notification_not_found: 404,
  operator_token_not_found: 404,
  statement_not_found: 404,
  already_exists: 409,
  already_rejected: 409,
  transition_not_allowed: 409,
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
  integration_error: 502,
};

export interface ErrorMessage {
  code: ErrorCode;
  message: string;
  details: string;
}

/** The body of an error (the service interface, Error body). */
export function errorMessage(problem: Problem): ErrorMessage {
  return { code: problem.code, message: MESSAGES[problem.code], details: problem.details };
}

/** Database constraints that a request can run into, by name: which field, and what is wrong with it. */
const CONSTRAINTS: Record<string, [ErrorCode, string]> = {
  clients_pkey: ['already_exists', 'body.client_id: is in use'],
  contacts_pkey: ['already_exists', 'body.contact_id: is in use'],
  contacts_email: ['already_exists', 'body.email: is in use'],
  applications_pkey: ['already_exists', 'body.client_id: is in use'],
  accounts_pkey: ['already_exists', 'body.account_id: is in use'],
  currency_accounts_client_id_currency_key: [
    'already_exists',
    'body.currency: the client has an account in this currency',
  ],
  beneficiaries_pkey: ['already_exists', 'body.beneficiary_id: is in use'],
  trades_pkey: ['already_exists', 'body.trade_id: is in use'],
  payments_uuid_key: ['already_exists', 'body.uuid: is the uuid of another payment'],
  payments_payment_id_key: ['already_exists', 'body.payment_id: is in use'],
  multipayments_multipayment_unique_id_key: ['already_exists', 'body.multipayment_unique_id: is in use'],
  mass_beneficiaries_pkey: ['already_exists', 'body.mass_beneficiary_id: is in use'],
  transactions_transaction_id_key: ['already_exists', 'body.transaction_id: is in use'],
  trades_client_id_parent_trade_id_fkey: ['trade_not_found', 'body.parent_trade_id: is no trade of the client'],
};

/**
 * A domain's refusal names a field. The route says which part of the request has it: the body, the path or the query; the names of
 * headers begin with a capital letter.
 * @returns the Problem with `body.`, `path.`, `query.` or `header.` before its field; the Problem itself if the request has no such field
 */
export function locate(problem: Problem, request: FastifyRequest): Problem {
  if (!problem.fault) return problem;
  const name = problem.fault.field.split(/[.[]/, 1)[0] as string;
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

/** Classes of database errors that mean: the database cannot answer now. */
const UNAVAILABLE = /^(08|53|57P|58|XX|40|55P03|25006)/;
const CONNECTION_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const CONNECTION_MESSAGES =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|not queryable|Connection ended/;

/**
 * What a caller is told of a failure: its own Problem; a constraint or a value that the database refused, by name; and for
 * everything that the caller cannot mend `integration_error`, whose cause goes into the log only.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const {
    code = '',
    constraint = '',
    message = '',
  } = error as { code?: string; constraint?: string; message?: string };
  const known = CONSTRAINTS[constraint];
  if (known) return new Problem(known[0], known[1], { cause: error });
  if (code === '23505') return new Problem('already_exists', 'an entity with this identifier exists', { cause: error });
  if (code === '23503')
    return new Problem('invalid_parameter', 'an identifier names an entity that does not exist', { cause: error });
  if (code === '22021' || code === '22P05')
    return new Problem('invalid_parameter', 'a text holds a character that cannot be stored (NUL)', { cause: error });
  if (/^22/.test(code))
    return new Problem('invalid_parameter', 'a value is out of the range that can be stored', { cause: error });
  if (UNAVAILABLE.test(code) || CONNECTION_ERRORS.has(code) || CONNECTION_MESSAGES.test(message)) {
    return new Problem('integration_error', 'the database does not answer: try again in a moment', { cause: error });
  }
  return new Problem(
    'integration_error',
    'the request could not be completed: its request id finds the reason in the log',
    { cause: error },
  );
}

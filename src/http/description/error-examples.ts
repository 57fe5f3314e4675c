import { type ErrorCode, MESSAGES } from '../../values/errors.ts';
import { STATUS } from '../schemas/problem.ts';

/** The `details` in the example of a code. For a code that is not listed, the details name the identifier or the state at fault. */
const DETAILS: Partial<Record<ErrorCode, string>> = {
  invalid_parameter: 'query.page_size: must be at most 1000',
  missing_parameter: 'query.client_id: is required',
  invalid_body: 'body.date_from: is required',
  unsupported_media_type: 'header.Content-Type: must be application/json, not text/plain',
  payload_too_large: 'body: must be at most 1048576 bytes',
  authentication_failed: 'header.Authorization: is required; send `Authorization: Bearer <access token>`',
  token_expired: 'header.Authorization: the access token has expired',
  contact_mismatch: 'header.X-Contact-Id: must be the contact of the access token; you can omit it',
  permission_denied: 'the contact needs can_manage_webhooks for this client',
  client_disabled: 'query.client_id: the client is disabled; contact the institution',
  client_not_found: 'query.client_id: is not a client of this contact',
  already_exists: 'body.client_id: is already in use',
  already_rejected: 'path.multipayment_id: is already rejected',
  transition_not_allowed: 'path.payment_id: the payment is "Payment complete"; no move is allowed',
  approval_not_allowed: 'contact: has acted on this payment already',
  ruleset_unsatisfiable: 'body.ruleset.rules[1].groups[0]: can never be met',
  exchange_rate_missing: 'body.payment_currency: there is no exchange rate from USD to EUR',
  statement_period_too_long: 'body.date_to: the period must have at most 366 days',
  idempotency_conflict: 'header.Idempotency-Key: was used for another request',
  rate_limited: 'the limit is 500 requests a minute; try again in 12 seconds',
  method_not_allowed: 'PUT: the methods of /payments are GET, HEAD',
  integration_error: 'the database does not answer; try again in a moment',
};

/** An ErrorMessage with this code in the form that the service sends. */
function errorExample(code: ErrorCode): { summary: string; value: object } {
  const noun = code.replace(/_not_found$/, '');
  const details = DETAILS[code] ?? (noun === code ? MESSAGES[code] : `path.${noun}_id: does not exist`);
  return { summary: MESSAGES[code], value: { code, message: MESSAGES[code], details } };
}

/** The codes by status, each with its example, in the form of a response's `examples`. */
export function examplesByStatus(codes: Iterable<ErrorCode>): Map<number, Record<string, object>> {
  const byStatus = new Map<number, Record<string, object>>();
  for (const code of [...new Set(codes)].sort()) {
    const examples = byStatus.get(STATUS[code]) ?? {};
    examples[code] = errorExample(code);
    byStatus.set(STATUS[code], examples);
  }
  return byStatus;
}

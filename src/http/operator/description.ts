import type { FastifySchema, RouteOptions } from 'fastify';
import type { ErrorCode } from '../../values/errors.ts';
import { addIdempotencyKey } from '../description/idempotency.ts';
import type { Description } from '../description/openapi.ts';
import { INSTITUTION, referenceScript } from '../site/audience.ts';
import { REASON_HEADER_FORM } from './reason.ts';

const TAGS = {
  clients: "The institution's clients and their onboarding",
  contacts: 'The people who sign in, and what they may do',
  applications: 'The programs that sign contacts in',
  beneficiaries: 'Who is paid',
  trades: 'Foreign exchange that funds payments',
  payments: 'Payments and their moves',
  'mass payments': 'Files of many payments that clients have sent',
  'multi payments': 'Several payments that were ordered together',
  'mass beneficiaries': 'Instructions that create many beneficiaries',
  accounts: 'Accounts, currency accounts and their transactions',
  quotes: 'Exchange rates, and when FX is available',
  imports: 'Many records at once',
  webhooks: 'Subscriptions, notifications and their attempts',
  statements: 'Statement requests and their deliveries',
  'change feed': 'What changed, in the order of the commits, and who has read how far',
  support: 'Refused requests, and attempts to sign in',
  audit: 'Who did what, and when',
  'operator tokens': 'Tokens of this interface',
  health: 'Health and metrics of the process',
  sandbox: 'Clock, mails and texts of a sandbox; production does not have these addresses',
};

/** The codes of what the listener checks before a handler runs: the token and its scopes, and for a POST the idempotency key. */
function implied({ config, method }: RouteOptions, { params, querystring }: FastifySchema): ErrorCode[] {
  if (config?.open) return ['malformed_request'];
  return [
    'authentication_failed',
    'token_expired',
    'permission_denied',
    'rate_limited',
    'integration_error',
    // Each change takes a reason in a header.
    ...(params || querystring || method !== 'GET' ? ['invalid_parameter' as const] : []),
    ...(requires(querystring) ? ['missing_parameter' as const] : []),
    ...(method === 'POST' ? ['idempotency_conflict' as const] : []),
  ];
}

function requires(querystring: unknown): boolean {
  return ((querystring as { required?: string[] } | undefined)?.required ?? []).length > 0;
}

const REASON = {
  name: 'X-Reason',
  in: 'header',
  required: false,
  description: 'Why: percent-encoded UTF-8, at most 500 characters. The audit trail keeps it',
  schema: REASON_HEADER_FORM,
};

/** The description of the operator interface. */
export const operatorDescription: Description = {
  title: 'Lombard operator interface',
  path: '/openapi.json',
  url: () => '/',
  description: 'For the institution: feed clients, payments and transactions, and operate the service.',
  tags: TAGS,
  implied,
  limited: false,
  amend: (method, operation) => {
    if (method === 'get') return;
    operation.parameters = [...(operation.parameters ?? []), REASON];
    if (method === 'post') addIdempotencyKey(operation);
  },
  securitySchemes: () => ({
    operatorToken: { type: 'http', scheme: 'bearer', description: 'An operator token, with scopes' },
  }),
  security: [{ operatorToken: [] }],
  script: referenceScript(INSTITUTION),
};

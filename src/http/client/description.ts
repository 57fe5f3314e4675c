import type { RouteOptions } from 'fastify';
import type { Context } from '../../context.ts';
import { REFERENCE_APPLICATION } from '../../identity/applications/own-applications.ts';
import type { ErrorCode } from '../../values/errors.ts';
import { addIdempotencyKey } from '../description/idempotency.ts';
import type { Description } from '../description/openapi.ts';
import { INTEGRATORS, referenceScript } from '../site/audience.ts';
import { describeWebhooks } from './notification-descriptions.ts';

const TAGS = {
  clients: 'For whom the contact acts, and who else does',
  payments: 'Search payments, read one, approve, reject and cancel',
  accounts: 'Accounts and currency accounts',
  approvals: 'Who must approve a payment',
  statements: 'Statements of the currency accounts',
  documents: 'Payment instructions and receipts as PDF',
  quotes: 'Foreign exchange: what it costs, and when it is possible',
  trades: 'What was exchanged, and what is left of it',
  'mass payments': 'Files of many payments, judged row by row',
  'payment initiations': 'Files of ISO 20022: pain.001 in, pain.002 out',
  'multi payments': 'Several payments that were ordered together',
  beneficiaries: 'Whom payments pay',
  'mass beneficiaries': 'Instructions that create many beneficiaries',
  webhooks: 'Subscriptions and the notifications that they get',
  sandbox: 'Move things in the sandbox; production does not have these addresses',
};

/** POST operations that take no Idempotency-Key (`unkeyed` of their routes). */
const UNKEYED = new Set<unknown>(['queryWebhooks', 'openChallenge', 'searchBeneficiaries']);

/** The codes of what the listener checks before a handler runs (docs/decisions.md, 1). */
function implied({ config, method }: RouteOptions): ErrorCode[] {
  if (config?.open) return ['integration_error'];
  return [
    'invalid_parameter',
    'authentication_failed',
    'token_expired',
    'contact_mismatch',
    'rate_limited',
    'integration_error',
    ...(config?.clientless ? [] : (['missing_parameter', 'client_disabled', 'client_not_found'] as const)),
    ...(config?.permission ? ['permission_denied' as const] : []),
    ...(method === 'POST' && config?.unkeyed !== true ? ['idempotency_conflict' as const] : []),
  ];
}

/** The description of the client API, at its own address and at the trusted address. */
export function clientDescription(context: Context, name: 'api' | 'trusted'): Description {
  const { addresses, config } = context;
  return {
    title: 'Lombard client API',
    path: '/openapi.json',
    url: () => (name === 'trusted' && addresses.trusted) || addresses.api,
    description: 'Payments, accounts, approvals, statements, documents and webhooks of one client at a time.',
    tags: TAGS,
    implied,
    limited: true,
    amend: (method, operation) => {
      if (method === 'post' && !UNKEYED.has(operation.operationId)) addIdempotencyKey(operation);
    },
    securitySchemes: () => ({
      openIdConnect: {
        type: 'openIdConnect',
        openIdConnectUrl: `${addresses.auth}/.well-known/openid-configuration`,
        description: 'Signs a contact in',
      },
      accessToken: { type: 'http', scheme: 'bearer', description: 'An access token' },
      mutualTLS: {
        type: 'mutualTLS',
        description: 'At the trusted address: the certificate that the access token is bound to',
      },
    }),
    security: [{ openIdConnect: [] }, { accessToken: [] }, { openIdConnect: [], mutualTLS: [] }],
    parameters: [
      {
        name: 'X-Contact-Id',
        in: 'header',
        required: false,
        description: 'The contact of the access token; can be omitted',
        schema: { type: 'string' },
      },
    ],
    webhooks: describeWebhooks(config.brand),
    script: referenceScript(INTEGRATORS),
    signsInAs: config.environment === 'sandbox' ? REFERENCE_APPLICATION : undefined,
  };
}

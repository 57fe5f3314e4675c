/**
 * What becomes of the tables of a cell when one of its clients goes to another one. Each table is in one of the lists (a test holds them to
 * `CELL_TABLES`).
 */

interface MovedTable {
  name: string;
  /** The rows of the client `$1`, where the table does not name it. */
  where?: string;
}

const OF_CLIENT = 'client_id = $1';
const SUBSCRIPTIONS = 'subscription_id in (select id from subscriptions where client_id = $1)';

/** What goes with the client, each table after those that it refers to. */
export const MOVED_TABLES: readonly MovedTable[] = [
  ...[
    'approval_configurations',
    'onboarding_events',
    'beneficiaries',
    'beneficiary_changes',
    'multipayments',
    'trades',
  ],
  ...[
    'payments',
    'trade_beneficiaries',
    'mass_beneficiaries',
    'mass_beneficiary_errors',
    'accounts',
    'currency_accounts',
  ],
  ...[
    'transactions',
    'payment_decisions',
    'payment_notices',
    'payment_approvals',
    'payment_approvers',
    'approver_refreshes',
  ],
  ...['payment_totals', 'payment_amount_totals', 'payment_beneficiary_totals'],
  ...['payment_waiting_totals', 'payment_approver_totals'],
  ...['step_up_challenges', 'statement_requests', 'statement_sections', 'statement_deliveries', 'sandbox_requests'],
  'subscriptions',
  { name: 'webhook_endpoints', where: SUBSCRIPTIONS },
  'webhook_streams',
  'webhook_stream_positions',
  'webhook_events',
  'notifications',
  'attempts',
  'webhook_queue',
  'webhook_outbox',
].map((table) => (typeof table === 'string' ? { name: table } : table));

/** The rows of a client `$1`. */
export function conditionOf({ where = OF_CLIENT }: MovedTable): string {
  return where;
}

/** Counts that are not added to the totals yet. A client that moves has none (`rollUp` of relocation.ts). */
export const DELTA_TABLES = ['payment_total_deltas', 'payment_approver_deltas'] as const;

/** The past, which is read over all cells. */
export const STAYING_TABLES: readonly string[] = [
  ...['audit', 'audit_unsealed', 'audit_chain', 'audit_erasures'],
  ...['changes', 'changes_unpublished', 'change_tallies'],
];

/**
 * The versions of a client's records (`change_versions`) have no client: by entity, the identifiers of the client `$1`. Of what a reset has
 * removed nothing is left that leads to it.
 */
export const VERSIONS: Record<string, string> = {
  client: '$1',
  approval_configuration: '$1',
  payment: 'select payment_id from payments where client_id = $1',
  approval: `select p.payment_id || '/' || (a.value->>'contact_id') from payment_approvals pa
    join payments p on p.client_id = pa.client_id and p.id = pa.payment_id, json_array_elements(pa.authorisations) a where pa.client_id = $1`,
  trade: 'select trade_id from trades where client_id = $1',
  multipayment: 'select multipayment_id::text from multipayments where client_id = $1',
  beneficiary: 'select beneficiary_id from beneficiaries where client_id = $1',
  mass_beneficiary: 'select mass_beneficiary_id::text from mass_beneficiaries where client_id = $1',
  account: 'select account_id::text from accounts where client_id = $1',
  currency_account: 'select account_id::text from currency_accounts where client_id = $1',
  transaction: 'select transaction_id from transactions where client_id = $1',
  subscription: 'select id::text from subscriptions where client_id = $1',
  statement_request: 'select statement_id::text from statement_requests where client_id = $1',
};

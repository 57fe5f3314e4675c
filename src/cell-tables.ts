/**
 * Which tables belong to clients. A client lives in a cell, and a cell is a schema: on plain PostgreSQL there is one, and its tables stand
 * in the schemas that the migrations make (ARCHITECTURE, Cells). What belongs to no client stands once. Every table is in one of the lists.
 */

/** A client's records, and what is written in the transactions of their changes: audit trail, answers, feed, outbox and queue. */
export const CELL_TABLES: ReadonlySet<string> = new Set([
  ...['public.clients', 'public.onboarding_events', 'public.idempotency_keys'],
  ...[
    'public.payments',
    'public.trades',
    'public.multipayments',
    'public.mass_beneficiaries',
    'public.mass_beneficiary_errors',
  ],
  ...['public.beneficiaries', 'public.beneficiary_changes', 'public.payment_decisions', 'public.payment_notices'],
  ...[
    'public.payment_totals',
    'public.payment_amount_totals',
    'public.payment_beneficiary_totals',
    'public.payment_total_deltas',
    'public.payment_waiting_totals',
  ],
  ...[
    'public.approval_configurations',
    'public.payment_approvals',
    'public.payment_approvers',
    'public.approver_refreshes',
  ],
  ...['public.payment_approver_totals', 'public.payment_approver_deltas', 'public.step_up_challenges'],
  ...['public.accounts', 'public.currency_accounts', 'public.transactions'],
  ...['public.statement_requests', 'public.statement_sections', 'public.statement_deliveries'],
  ...['public.audit', 'public.audit_unsealed', 'public.audit_chain', 'public.audit_heads', 'public.audit_erasures'],
  ...['public.changes', 'public.changes_unpublished', 'public.change_versions', 'public.change_tallies'],
  ...['webhooks.subscriptions', 'webhooks.notifications', 'webhooks.attempts'],
  ...[
    'delivery.events',
    'delivery.outbox',
    'delivery.queue',
    'delivery.endpoints',
    'delivery.streams',
    'delivery.stream_positions',
  ],
  'public.sandbox_requests',
]);

/** People, applications and their sign-ins, what the institution sets for all clients, and the work of the processes. */
export const ONCE_TABLES: ReadonlySet<string> = new Set([
  ...['public.contacts', 'public.contact_clients', 'public.recovery_codes', 'public.erasures'],
  ...[
    'public.applications',
    'public.application_secrets',
    'public.application_certificates',
    'public.application_trusted_clients',
  ],
  ...[
    'public.grants',
    'public.access_tokens',
    'public.refresh_tokens',
    'public.authorization_codes',
    'public.sign_in_requests',
  ],
  ...['public.second_factor_challenges', 'public.step_up_texts', 'public.browser_sessions', 'public.page_sessions'],
  ...['public.password_requests', 'public.password_links', 'public.mails', 'public.mailbox', 'public.text_messages'],
  ...['public.limited_attempts', 'public.attempt_locks', 'public.sign_in_attempts', 'public.refused_requests'],
  ...['public.identity_version', 'public.identity_changes', 'public.operator_tokens', 'public.staff_sessions'],
  ...['public.exchange_rates', 'public.fx_availability', 'public.service_clock', 'public.service_minutes'],
  ...['public.audit_key', 'public.change_order', 'public.change_cursor_key', 'public.change_consumers'],
  ...[
    'public.imports',
    'public.import_errors',
    'public.processes',
    'public.rate_counts',
    'delivery.workers',
    'delivery.watches',
  ],
  ...['public.migrations', 'public.migration_steps'],
]);

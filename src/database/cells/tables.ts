/**
 * Which tables belong to clients. A client lives in a cell, and a cell is a schema: on plain PostgreSQL there is one, with all tables
 * (docs/decisions/0016). What belongs to no client exists once. Every table is in one of the lists.
 */

/** A client's records but for its own row, and what is written in the transactions of their changes: audit trail, feed, outbox and queue. */
export const CELL_TABLES: ReadonlySet<string> = names(`
  onboarding_events payments trades trade_beneficiaries multipayments mass_beneficiaries
  mass_beneficiary_errors beneficiaries beneficiary_changes payment_decisions payment_notices payment_totals
  payment_amount_totals payment_beneficiary_totals payment_total_deltas payment_waiting_totals
  approval_configurations payment_approvals payment_approvers approver_refreshes payment_approver_totals
  payment_approver_deltas step_up_challenges accounts currency_accounts transactions statement_requests
  statement_sections statement_deliveries audit audit_unsealed audit_chain audit_erasures changes
  changes_unpublished change_versions change_tallies sandbox_requests subscriptions notifications attempts
  webhook_events webhook_outbox webhook_queue webhook_endpoints webhook_streams webhook_stream_positions`);

/** People, applications and their sign-ins, what the institution sets for all clients, and the work of the processes. */
export const ONCE_TABLES: ReadonlySet<string> = names(`
  cells two_phase clients claims claims_swept idempotency_keys
  contacts contact_clients recovery_codes erasures applications application_secrets application_certificates
  application_trusted_clients grants access_tokens refresh_tokens authorization_codes sign_in_requests
  second_factor_challenges step_up_texts browser_sessions page_sessions password_requests password_links mails
  mailbox text_messages limited_attempts attempt_locks sign_in_attempts refused_requests identity_version
  identity_changes operator_tokens staff_sessions exchange_rates fx_availability service_clock service_minutes
  audit_key audit_heads audit_end audit_links change_order changes_recent change_cursor_key change_consumers imports import_errors processes rate_counts
  migrations migration_steps webhook_watches webhook_workers`);

/** Cell tables that refer to the row of the client. With several cells each of them takes rows of its own clients only. */
export const CLIENT_TABLES: ReadonlySet<string> = names(`
  onboarding_events beneficiaries multipayments trades payments mass_beneficiaries mass_beneficiary_errors approval_configurations
  payment_approvals approver_refreshes accounts currency_accounts transactions subscriptions statement_requests statement_deliveries
  step_up_challenges payment_notices`);

/** What is written beside every change: with what belongs to no client, into the first cell. */
export const HISTORY_TABLES: ReadonlySet<string> = names(`
  audit audit_unsealed changes changes_unpublished change_tallies`);

/** @param list with spaces between them */
function names(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

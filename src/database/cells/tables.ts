import { isOfClients, KIND_NAMES, REMOVED_KINDS, tablesOf } from '../kinds.ts';

/**
 * Says which tables belong to clients. A client lives in a cell, and a cell is a schema. Plain PostgreSQL has one cell with all tables
 * (docs/decisions/0016). What belongs to no client exists once. Every table belongs to a kind of record (kinds.ts), or is in one of these
 * lists.
 */

/** The tables that move with a client to another cell, each after those that it refers to. */
export const MOVED_TABLES: readonly string[] = [
  ...REMOVED_KINDS.flatMap(tablesOf).toReversed(),
  ...KIND_NAMES.filter((kind) => isOfClients(kind) && !REMOVED_KINDS.includes(kind))
    .flatMap(tablesOf)
    .toReversed(),
  ...list(`onboarding_events approver_refreshes payment_totals payment_amount_totals payment_beneficiary_totals
    payment_waiting_totals payment_approver_totals trade_totals sandbox_requests webhook_events notifications attempts webhook_queue webhook_outbox`),
];

/** Counts that are not added to the totals yet. A client that is being moved has none (`rollUp` of relocation.ts). */
export const DELTA_TABLES: readonly string[] = [
  'payment_total_deltas',
  'payment_approver_deltas',
  'trade_allocation_deltas',
  'trade_total_deltas',
];

/**
 * Tables that record every change. Changes that belong to no client are recorded in the first cell. When a client moves, its history stays
 * where it was.
 */
export const HISTORY_TABLES: ReadonlySet<string> = new Set(
  list('audit audit_unsealed changes changes_unpublished change_tallies'),
);

/**
 * The tables of a cell: a client's records except its own row, and what the transactions of their changes write (audit trail, feed, outbox
 * and queue).
 */
export const CELL_TABLES: ReadonlySet<string> = new Set([
  ...[...MOVED_TABLES, ...DELTA_TABLES, ...HISTORY_TABLES],
  // The chain stays with the trail. The versions move with the records of a client.
  ...['audit_chain', 'audit_erasures', 'change_versions'],
]);

/** People, applications and their sign-ins, settings of the institution for all clients, and the work of the processes. */
export const ONCE_TABLES: ReadonlySet<string> = new Set([
  ...KIND_NAMES.filter((kind) => !isOfClients(kind)).flatMap(tablesOf),
  ...list(`cells two_phase claims claims_swept idempotency_keys
    contact_clients recovery_codes erasures application_secrets application_certificates
    application_trusted_clients grants access_tokens refresh_tokens authorization_codes sign_in_requests
    second_factor_challenges step_up_texts browser_sessions page_sessions password_requests password_links mails
    mailbox text_messages limited_attempts attempt_locks sign_in_attempts refused_requests identity_version
    identity_changes operator_tokens staff_sessions exchange_rates fx_availability pricing client_pricing payment_schemes
    forward_points service_clock service_minutes
    audit_key audit_heads audit_end audit_links change_order changes_recent change_cursor_key change_consumers imports
    import_errors processes rate_counts migrations migration_steps webhook_watches webhook_workers`),
]);

/** @param names separated by spaces */
function list(names: string): string[] {
  return names.trim().split(/\s+/);
}

import type { Authorisation } from '../approvals/approval.ts';
import { type AuditOfRecord, auditOf } from '../audit.ts';
import { type Db, first } from '../database.ts';
import type { PaymentId } from '../identifiers.ts';
import { listNotifications } from '../webhooks/history.ts';
import { findPaymentOwner } from './owner.ts';

/** Rows of the audit trail, and notifications, that a timeline shows. */
const MAX_ROWS = 1_000;

/** The order of what happened at the same moment: a cause before its effect. */
const KINDS = ['audit', 'action', 'approval', 'notification', 'attempt'] as const;

/** Something that happened to a payment. */
export interface TimelineEntry {
  at: Date;
  kind: (typeof KINDS)[number];
  [field: string]: unknown;
}

/**
 * Everything that happened to a payment, in order, for whoever answers a client's question (docs/operator-interface.md, Find things).
 * @throws Problem payment_not_found
 */
export async function paymentTimeline(db: Db, paymentId: PaymentId): Promise<TimelineEntry[]> {
  const { client_id: clientId, id } = await findPaymentOwner(db, paymentId);
  const audit = await auditOf(db, 'payment', paymentId, MAX_ROWS);
  const approval = first(
    await db.query<{ authorisations: Authorisation[] }>(
      'select authorisations from payment_approvals where client_id = $1 and payment_id = $2',
      [clientId, id],
    ),
  );
  const told = await listNotifications(db, { clientId, paymentId }, { limit: MAX_ROWS, offset: 0 });
  const entries = [
    ...audit.map(auditEntry),
    ...(approval?.authorisations ?? []).map((each) => approvalEntry(each, audit)),
    ...told.rows
      .reverse()
      .flatMap(({ id: notification_id, subscription_id, type, status, created_at: at, attempts }) => [
        { at, kind: 'notification' as const, notification_id, subscription_id, type, status },
        ...attempts.map(({ started_at, attempt_number, status_code, duration_ms, reason }) => ({
          at: new Date(started_at),
          kind: 'attempt' as const,
          notification_id,
          subscription_id,
          attempt_number,
          status_code,
          duration_ms,
          reason,
        })),
      ]),
  ];
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime() || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
}

function auditEntry({ at, actor, request_id, action, before, after, reason }: AuditOfRecord): TimelineEntry {
  if (action !== 'action') return { at, kind: 'audit', action, actor, request_id, before, after, reason };
  return { at, kind: 'action', actor, request_id, reason, from: before?.status ?? null, ...after };
}

/** Approvals keep whole seconds; the audit row of the same decision has the moment. */
function approvalEntry(each: Authorisation, audit: AuditOfRecord[]): TimelineEntry {
  const { date, contact_id, contact_name, level, status, reason, on_behalf_by } = each;
  const decision = status === 1 ? 'authorise' : 'reject';
  const row = audit.find(({ after }) => after?.action === decision && after.contact_id === contact_id);
  return {
    at: row?.at ?? new Date(date),
    kind: 'approval',
    decision,
    contact_id,
    contact_name,
    level,
    reason,
    on_behalf_by,
  };
}

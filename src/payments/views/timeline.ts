import type { Authorisation } from '../../approvals/approval.ts';
import { type AuditOfRecord, auditOf } from '../../audit/record.ts';
import { type Db, first } from '../../database/database.ts';
import type { PaymentId, PaymentNumber } from '../../values/identifiers.ts';
import { listNotifications } from '../../webhooks/history.ts';
import { findPaymentOwner } from '../payment.ts';

/** The most audit rows, and the most notifications, that a timeline shows. */
const MAX_ROWS = 1_000;

/** The order of what happened at the same moment: causes before effects. */
const KINDS = ['audit', 'action', 'approval', 'notification', 'attempt'] as const;

/** Something that happened to a payment. */
export interface TimelineEntry {
  at: Date;
  kind: (typeof KINDS)[number];
  [field: string]: unknown;
}

/**
 * Everything that happened to a payment, in order, for somebody who answers a client's question (docs/operator-interface.md, Find things).
 * @throws Problem payment_not_found
 */
export async function paymentTimeline(db: Db, paymentId: PaymentId): Promise<TimelineEntry[]> {
  const { client_id: clientId, id } = await findPaymentOwner(db, paymentId);
  const audit = await auditOf(db, { entity: 'payment', entityId: paymentId, limit: MAX_ROWS });
  const approval = first(
    await db.query<{ authorisations: Authorisation[] }>(
      'select authorisations from payment_approvals where client_id = $1 and payment_id = $2',
      [clientId, id],
    ),
  );
  const told = await listNotifications(db, { clientId, paymentId }, { limit: MAX_ROWS, offset: 0 });
  const entries = [
    ...(await recordEntries(db, { clientId, id, audit, isDecided: (approval?.authorisations ?? []).length > 0 })),
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

/** An action that a payment's own record shows, with its moment and its actor as far as the record has them. */
interface Recorded {
  create: [string, string];
  authorise: [string | null, string | null];
  reject: [string | null, string | null];
  cancel: [string | null, string | null];
  send: [string | null, null];
}

/**
 * What the record of a payment shows and the trail does not. The trail has one row for thousands of imported payments, which names none of
 * them.
 * @param known `isDecided`: its approvals are separate entries
 */
async function recordEntries(
  db: Db,
  known: { clientId: string; id: PaymentNumber; audit: AuditOfRecord[]; isDecided: boolean },
): Promise<TimelineEntry[]> {
  const { clientId, id, audit, isDecided } = known;
  if (audit.some(({ action }) => action === 'create')) return [];
  const found = await db.query<Recorded>(
    `select json_build_array(created, ordered_by_name) as create, json_build_array(authorised_date, authorised_by) as authorise,
       json_build_array(rejected_date, rejected_by) as reject, json_build_array(cancelled_date, cancelled_by) as cancel,
       json_build_array(sent_date, null) as send
     from payments where client_id = $1 and id = $2`,
    [clientId, id],
  );
  const acted = new Set(audit.map(({ after }) => after?.action));
  const isTold = (action: string) =>
    acted.has(action) ||
    (isDecided && (action === 'authorise' || action === 'reject')) ||
    (action === 'cancel' && (acted.has('invalidate') || acted.has('return')));
  return Object.entries(first(found) ?? {}).flatMap(([action, [at, who]]) =>
    at === null || isTold(action)
      ? []
      : [{ at: new Date(at), kind: 'action' as const, action, actor: null, contact_name: who, source: 'record' }],
  );
}

function auditEntry({ at, actor, request_id, action, before, after, reason }: AuditOfRecord): TimelineEntry {
  if (action !== 'action') return { at, kind: 'audit', action, actor, request_id, before, after, reason };
  return { at, kind: 'action', actor, request_id, reason, from: before?.status ?? null, ...after };
}

/** Approvals store whole seconds. The audit row of the same decision has the exact moment. */
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

import * as approvals from '../approvals/workflow.ts';
import type { Act } from '../audit/act.ts';
import { hasChanged, noteChange } from '../audit/change.ts';
import { type AuditEntry, audit } from '../audit/record.ts';
import { endStep, first, type Transaction } from '../database/database.ts';
import { updateRow } from '../database/rows.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { notify } from '../webhooks/notification.ts';
import {
  allowedMoves,
  MOVES,
  mayMove,
  type PaymentAction,
  type PaymentStatus,
  type PaymentWebhookStatus,
} from './moves.ts';
import { noPayment, paymentBodies } from './payment.ts';
import type { Presentation } from './presentation.ts';

export interface MoveRequest {
  clientId: string;
  paymentId: PaymentId;
  action: PaymentAction;
  /** Who acts: required by authorise and reject. */
  contactId?: string | undefined;
  /** Why. The payment shows it where a person rejects or cancels; what the institution notes stays in its audit trail. */
  reason?: string | undefined;
  /** The operator token that acts in the contact's name. */
  onBehalfBy?: string | undefined;
  /** Nobody is notified. */
  silent?: boolean | undefined;
}

export interface Moved {
  id: PaymentNumber;
  status: PaymentStatus;
}

/** A payment whose row is locked until the transaction ends. */
export interface LockedPayment {
  id: PaymentNumber;
  status: PaymentStatus;
  return_started: boolean;
  /** The status when the statement began, before it waited for the lock. */
  seen: PaymentStatus;
}

export const PENDING = { status: 'Payment pending of authorization', returnStarted: false } as const;

/**
 * Moves a payment (docs/decisions.md, 3) and writes its notification, in the caller's transaction. Moves of one payment wait for each
 * other at its row; each then sees what the one before it did.
 * @throws Problem payment_not_found; transition_not_allowed, naming the present status and the moves it allows;
 *   approval_not_allowed and permission_denied from the approvals
 */
export async function movePayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: MoveRequest,
): Promise<Moved> {
  const { clientId, paymentId, action } = request;
  checkContact(request);
  if (mayMove(PENDING, action)) await approvals.shareLock(tx, clientId);
  // Moved before in this transaction: readers of the change feed see each of the moves.
  if (hasChanged(tx, 'payment', paymentId)) await endStep(tx);
  const payment = await lockPayment(tx, clientId, paymentId);
  checkMove(payment, action);
  const final = await decide(tx, act, payment.id, request);
  const move = MOVES[action];
  const status = final ? (move.to ?? payment.status) : payment.status;
  if (final) await write(tx, act, request, { id: payment.id, status });
  if (status === 'Payment cancelled')
    await approvals.closeApproval(tx, { clientId, id: payment.id, status: 'Cancelled' });
  await audit(tx, act, auditOf(request, payment.status, status));
  noteDecision(tx, act, request);
  if (final && move.webhook && !request.silent) {
    await notifyPayment(tx, act, presentation, { clientId, id: payment.id, paymentId, statuses: [move.webhook] });
  }
  return { id: payment.id, status };
}

/** @throws Problem invalid_body where a decision names nobody who decides */
export function checkContact({ action, contactId }: Pick<MoveRequest, 'action' | 'contactId'>): void {
  if ((action === 'authorise' || action === 'reject') && !contactId)
    throw new Problem('invalid_body', { field: 'contact_id', message: `is required by ${action}` });
}

/** The audit row of a move. */
export function auditOf(request: MoveRequest, before: PaymentStatus, status: PaymentStatus): AuditEntry {
  const { clientId, paymentId, action, contactId, reason, onBehalfBy } = request;
  return {
    action: 'action',
    entity: 'payment',
    entityId: paymentId,
    clientId,
    before: { status: before },
    after: { action, status, contact_id: contactId, reason, on_behalf_by: contactId && onBehalfBy },
  };
}

/** Notes the approval or the rejection that a move is. */
export function noteDecision(tx: Transaction, act: Act, request: MoveRequest): void {
  const { clientId, paymentId, action, contactId, reason } = request;
  if (!contactId || (action !== 'authorise' && action !== 'reject')) return;
  noteChange(tx, act, {
    entity: 'approval',
    id: `${paymentId}/${contactId}`,
    clientId,
    action,
    created: true,
    reason,
  });
}

/** @throws Problem payment_not_found */
async function lockPayment(tx: Transaction, clientId: string, paymentId: PaymentId): Promise<LockedPayment> {
  // `seen` comes from the statement's snapshot, the other columns from the row as the transactions before this one left it.
  const payment = first(
    await tx.query<LockedPayment>(
      `select p.id, p.status, p.return_started,
         (select s.status from payments s where s.client_id = $1 and s.payment_id = $2) as seen
       from payments p where p.client_id = $1 and p.payment_id = $2 for update`,
      [clientId, paymentId],
    ),
  );
  return payment ?? noPayment();
}

/** @throws Problem transition_not_allowed */
export function checkMove({ status, return_started: returnStarted, seen }: LockedPayment, action: PaymentAction): void {
  const standing = { status, returnStarted };
  // A cancellation and an approval at the same instant: the one that comes second is refused and can look again.
  const overtaken = action === 'cancel' && seen === PENDING.status && status !== PENDING.status;
  if (!overtaken && mayMove(standing, action)) return;
  const state = returnStarted ? `${status}, its return has started` : status;
  const why = overtaken ? ', because an approver acted first' : '';
  const allowed = allowedMoves(standing).join(', ') || 'none';
  throw new Problem('transition_not_allowed', {
    field: 'payment_id',
    message: `${action} is not allowed${why}: the payment is "${state}" and allows: ${allowed}`,
  });
}

/**
 * Records an approval or a rejection; other actions need none.
 * @returns whether the action takes effect: an approval does not while further ones are needed
 */
async function decide(
  tx: Transaction,
  act: Act,
  id: PaymentNumber,
  { clientId, action, contactId, reason, onBehalfBy }: MoveRequest,
): Promise<boolean> {
  if (contactId === undefined) return true;
  const decision = { clientId, id, contactId, now: act.now, reason, onBehalfBy };
  if (action === 'authorise') return (await approvals.authorise(tx, decision)).complete;
  if (action === 'reject') await approvals.reject(tx, decision);
  return true;
}

/** Sets the status and what goes with the action. */
async function write(
  tx: Transaction,
  act: Act,
  request: MoveRequest,
  { id, status }: { id: PaymentNumber; status: PaymentStatus },
): Promise<void> {
  const values = { status, ...stampsOf(act, request) };
  await updateRow(tx, 'payments', { key: { client_id: request.clientId, id }, values, returning: 'id' });
}

/** What a payment keeps of an action, by column. */
export function stampsOf(act: Act, request: MoveRequest): Record<string, unknown> {
  const by = request.contactId ?? act.actor.replace(/^contact:/, '');
  const cancelled = { cancelled_by: by, cancelled_date: act.now };
  const reason = request.reason ?? null;
  const stamps: Partial<Record<PaymentAction, Record<string, unknown>>> = {
    authorise: { authorised_by: by, authorised_date: act.now },
    reject: { rejected_by: by, rejected_date: act.now, reason },
    cancel: act.actor.startsWith('contact:') ? { ...cancelled, reason } : cancelled,
    invalidate: { ...cancelled, invalidated: true },
    send: { sent_date: act.now },
    start_return: { return_started: true },
    return: { ...cancelled, return_started: false },
  };
  return stamps[request.action] ?? {};
}

/** What the notifications of a payment say. */
interface PaymentNews {
  clientId: string;
  id: PaymentNumber;
  paymentId: PaymentId;
  statuses: PaymentWebhookStatus[];
}

/** Writes one PAYMENT_STATUS_CHANGE for each status: one payment and one status, the two lists in parallel. */
export async function notifyPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  { clientId, id, paymentId, statuses }: PaymentNews,
): Promise<void> {
  const [body] = await paymentBodies(tx, { clientId, viewer: null, now: act.now, ...presentation }, [id]);
  for (const status of statuses) {
    await notify(tx, {
      clientId,
      type: 'PAYMENT_STATUS_CHANGE',
      paymentId,
      body: `{"data":[${body}],"payment_webhook_status":["${status}"]}`,
      now: act.now,
    });
  }
}

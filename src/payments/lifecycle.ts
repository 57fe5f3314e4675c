import * as approvals from '../approvals/workflow.ts';
import { audit } from '../audit.ts';
import type { Act } from '../context.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { updateRow } from '../rows.ts';
import { notify } from '../webhooks/notification.ts';
import {
  allowedMoves,
  MOVES,
  mayMove,
  type PaymentAction,
  type PaymentStatus,
  type PaymentWebhookStatus,
} from './moves.ts';
import { paymentBodies } from './payment.ts';
import type { Presentation } from './presentation.ts';

export interface MoveRequest {
  clientId: string;
  paymentId: string;
  action: PaymentAction;
  /** Who acts: required by authorise and reject. */
  contactId?: string | undefined;
  reason?: string | undefined;
}

export interface Moved {
  /** payments.id */
  id: number;
  status: PaymentStatus;
}

interface PaymentRow {
  id: number;
  status: PaymentStatus;
  return_started: boolean;
  amount: string;
  payment_currency: string;
  seen: PaymentStatus;
}

const PENDING = { status: 'Payment pending of authorization', returnStarted: false } as const;

/**
 * Moves a payment (docs/decisions.md, 3) and writes its notification, in the caller's transaction. Moves of one payment
 * wait for each other at its row; each then sees what the one before it did.
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
  if ((action === 'authorise' || action === 'reject') && !request.contactId)
    throw new Problem('invalid_body', { field: 'contact_id', message: `is required by ${action}` });
  if (mayMove(PENDING, action)) await approvals.shareTurn(tx, clientId);
  // `seen` comes from the statement's snapshot, the other columns from the row as it is once those before have let go of it.
  const { rows } = await tx.query<PaymentRow>(
    `select p.id, p.status, p.return_started, p.amount, p.payment_currency,
       (select s.status from payments s where s.client_id = $1 and s.payment_id = $2) as seen
     from payments p where p.client_id = $1 and p.payment_id = $2 for update`,
    [clientId, paymentId],
  );
  const payment = rows[0];
  if (!payment) throw new Problem('payment_not_found', { field: 'payment_id', message: 'is no payment of the client' });
  const standing = { status: payment.status, returnStarted: payment.return_started };
  // A cancellation decided on while approvers decided too: one of them wins, the other looks again.
  const overtaken = action === 'cancel' && payment.seen === PENDING.status && payment.status !== PENDING.status;
  if (overtaken || !mayMove(standing, action)) {
    const allowed = allowedMoves(standing).join(', ') || 'none';
    const state = payment.return_started ? `${payment.status}, its return has started` : payment.status;
    throw new Problem('transition_not_allowed', {
      field: 'action',
      message: `${action} is not allowed${overtaken ? ', an approver was faster' : ''}; the payment is "${state}" and allows: ${allowed}`,
    });
  }

  let final = true;
  if (action === 'authorise' || action === 'reject') {
    if (!request.contactId)
      throw new Problem('invalid_body', { field: 'contact_id', message: `is required by ${action}` });
    const approval = { clientId, id: payment.id, contactId: request.contactId, now: act.now };
    if (action === 'authorise') final = (await approvals.authorise(tx, approval)).complete;
    else await approvals.reject(tx, approval);
  }
  const move = MOVES[action];
  const status = final ? (move.to ?? payment.status) : payment.status;
  if (final) await write(tx, act, request, payment, status);
  if (status === 'Payment cancelled') {
    await approvals.closeApproval(tx, { clientId, id: payment.id, status: 'Cancelled' });
  }
  await audit(tx, act, {
    action: 'action',
    entity: 'payment',
    entityId: paymentId,
    clientId,
    before: { status: payment.status },
    after: { action, status, contact_id: request.contactId, reason: request.reason },
  });
  if (final && move.webhook) await notifyPayment(tx, act, presentation, clientId, payment.id, move.webhook);
  return { id: payment.id, status };
}

/** Sets the status and what goes with the action. */
async function write(
  tx: Transaction,
  act: Act,
  request: MoveRequest,
  payment: PaymentRow,
  status: PaymentStatus,
): Promise<void> {
  const by = request.contactId ?? act.actor.replace(/^contact:/, '');
  const cancelled = { cancelled_by: by, cancelled_date: act.now };
  const stamps: Partial<Record<PaymentAction, Record<string, unknown>>> = {
    authorise: { authorised_by: by, authorised_date: act.now },
    reject: { rejected_by: by, rejected_date: act.now },
    cancel: cancelled,
    invalidate: { ...cancelled, invalidated: true },
    send: { sent_date: act.now },
    start_return: { return_started: true },
    return: { ...cancelled, return_started: false },
  };
  await updateRow(
    tx,
    'payments',
    { client_id: request.clientId, id: payment.id },
    { status, ...stamps[request.action] },
    'id',
  );
}

/** Writes a PAYMENT_STATUS_CHANGE: one payment and one status, the two lists in parallel. */
export async function notifyPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  clientId: string,
  id: number,
  ...statuses: PaymentWebhookStatus[]
): Promise<void> {
  const [body] = await paymentBodies(tx, { clientId, viewer: null, now: act.now, ...presentation }, [id]);
  for (const status of statuses) {
    await notify(tx, {
      clientId,
      type: 'PAYMENT_STATUS_CHANGE',
      body: `{"data":[${body}],"payment_webhook_status":["${status}"]}`,
      now: act.now,
    });
  }
}

import { shareLock } from '../approvals/lock.ts';
import type { Act } from '../audit/act.ts';
import { first, type Transaction } from '../database/database.ts';
import { movePayment } from '../payments/lifecycle.ts';
import type { PaymentAction, PaymentStatus, Standing } from '../payments/moves.ts';
import { noPayment } from '../payments/payment.ts';
import type { Presentation } from '../payments/presentation.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { moveAsCore } from './core.ts';
import { type Destination, wayTo } from './course.ts';

export interface AdvanceRequest {
  clientId: string;
  paymentId: PaymentId;
  to: Destination;
  /** Stored in the audit trail. */
  reason?: string | undefined;
}

interface Standings extends Standing {
  id: PaymentNumber;
}

/**
 * Moves a payment to the state that the integrator wants to see, by legal moves of the lifecycle, each with its notification, in the
 * caller's transaction (docs/sandbox.md, Advance a payment). Approvals and rejections are given by contacts who may give them.
 * @throws Problem payment_not_found; transition_not_allowed if no moves lead there, or if nobody may approve
 */
export async function advancePayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: AdvanceRequest,
): Promise<void> {
  const { clientId, paymentId, to } = request;
  await shareLock(tx, clientId);
  const payment = await lockPayment(tx, clientId, paymentId);
  const way = wayTo(payment, to);
  if (!way) throw noWay(payment, to);
  for (const action of way) await move(tx, act, presentation, { ...request, id: payment.id, action });
}

/** @throws Problem payment_not_found */
async function lockPayment(tx: Transaction, clientId: string, paymentId: PaymentId): Promise<Standings> {
  const payment = first(
    await tx.query<{ id: PaymentNumber; status: PaymentStatus; return_started: boolean }>(
      'select id, status, return_started from payments where client_id = $1 and payment_id = $2 for update',
      [clientId, paymentId],
    ),
  );
  if (!payment) noPayment();
  return { id: payment.id, status: payment.status, returnStarted: payment.return_started };
}

function noWay({ status, returnStarted }: Standing, to: Destination): Problem {
  const state = returnStarted ? `${status}, its return has started` : status;
  const goal = to === 'next' ? 'there is no next step' : `no legal moves lead to "${to}"`;
  return new Problem('transition_not_allowed', { field: 'payment_id', message: `the payment is "${state}": ${goal}` });
}

/** A move of the payment on the way to the requested state. */
interface Step extends AdvanceRequest {
  id: PaymentNumber;
  action: PaymentAction;
}

async function move(tx: Transaction, act: Act, presentation: Presentation, request: Step): Promise<void> {
  const { clientId, paymentId, action, reason } = request;
  const step = { clientId, paymentId, action, reason };
  if (action === 'reject')
    await movePayment(tx, act, presentation, { ...step, contactId: await approver(tx, request, 'may_reject') });
  else if (action === 'authorise') await authorise(tx, act, presentation, request);
  else await moveAsCore(tx, act, presentation, step);
}

/** Gives all missing approvals. */
async function authorise(tx: Transaction, act: Act, presentation: Presentation, request: Step): Promise<void> {
  const { clientId, paymentId, action, reason } = request;
  for (;;) {
    const contactId = await approver(tx, request, 'may_authorise');
    const { status } = await movePayment(tx, act, presentation, { clientId, paymentId, action, contactId, reason });
    if (status !== 'Payment pending of authorization') return;
  }
}

/** A contact who may act on a pending payment now. @throws Problem transition_not_allowed if nobody may */
async function approver(
  tx: Transaction,
  { clientId, id }: { clientId: string; id: PaymentNumber },
  may: 'may_authorise' | 'may_reject',
): Promise<string> {
  const found = first(
    await tx.query<{ contact_id: string }>(
      `select a.contact_id from payment_approvers a
       join contact_clients cc on cc.client_id = a.client_id and cc.contact_id = a.contact_id
       join contacts c on c.contact_id = a.contact_id and c.status = 'enabled'
       where a.client_id = $1 and cc.client_id = $1 and a.payment_id = $2 and a.${may} order by a.contact_id limit 1`,
      [clientId, id],
    ),
  );
  if (found) return found.contact_id;
  throw new Problem('transition_not_allowed', {
    field: 'payment_id',
    message: 'the payment is "Payment pending of authorization": no contact of the client may approve it now',
  });
}

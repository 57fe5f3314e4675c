import { keepActs } from '../approvals/acts.ts';
import type { Act } from '../audit/act.ts';
import { first, type Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentId } from '../values/identifiers.ts';
import { movePayment } from './lifecycle.ts';
import { mayMove, type PaymentStatus } from './moves.ts';
import { noPayment } from './payment.ts';
import type { Presentation } from './presentation.ts';
import { mayManage, withPermissions } from './viewer-permissions.ts';

/** What a contact does with a payment of its client (the service interface; docs/decisions.md, 4). */
export interface ContactAction {
  clientId: string;
  contactId: string;
  paymentId: PaymentId;
  /** Why, in the contact's words. */
  reason?: string | undefined;
}

type DecisionRequest = ContactAction & { action: 'authorise' | 'reject' };

/**
 * Counts a contact's approval or rejection. An approver is not told of the lifecycle: whatever the reason, it may not act on this
 * payment now.
 * @throws Problem payment_not_found, permission_denied, approval_not_allowed
 */
export async function decidePayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: DecisionRequest,
): Promise<void> {
  try {
    await movePayment(tx, act, presentation, request);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'transition_not_allowed') throw error;
    throw await refusal(tx, request);
  }
}

/** Why no approval is open: the payment's status, and what is left to this contact. The institution's moves are none of its. */
async function refusal(tx: Transaction, { clientId, contactId, paymentId, action }: DecisionRequest): Promise<Problem> {
  const payment = first(
    await tx.query<{ status: PaymentStatus; return_started: boolean; may: boolean | null }>(
      await withPermissions(tx, {
        text: `select p.status, p.return_started, p.contact_id = $2 or ${mayManage('$1', '$2')} as may
          from payments p where p.client_id = $1 and p.payment_id = $3`,
        values: [clientId, contactId, paymentId],
      }),
    ),
  );
  if (!payment) noPayment();
  const mayCancel = payment.may && mayMove({ status: payment.status, returnStarted: payment.return_started }, 'cancel');
  return new Problem('approval_not_allowed', {
    field: 'payment_id',
    message: `${action} is not possible: the payment is "${payment.status}"; this contact may ${mayCancel ? 'cancel it' : 'not act on it now'}`,
  });
}

/**
 * Cancels a payment for its creator, or for a contact who may manage payments.
 * @throws Problem payment_not_found, permission_denied, transition_not_allowed
 */
export async function cancelPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: ContactAction,
): Promise<void> {
  const { clientId, contactId, paymentId } = request;
  const payment = first(
    await tx.query<{ may: boolean | null }>(
      await withPermissions(tx, {
        text: `select contact_id = $2 or ${mayManage('$1', '$2')} as may from payments where client_id = $1 and payment_id = $3`,
        values: [clientId, contactId, paymentId],
      }),
    ),
  );
  if (!payment) noPayment();
  if (!payment.may)
    throw new Problem(
      'permission_denied',
      'the contact needs can_manage_payments to cancel a payment of another contact',
    );
  const { id } = await movePayment(tx, act, presentation, { ...request, action: 'cancel' });
  await keepActs(tx, [{ clientId, id, contactId, action: 'cancel', now: act.now }]);
}

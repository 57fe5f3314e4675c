import type { Act } from '../context.ts';
import { first, type Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { movePayment } from './lifecycle.ts';
import { mayManage } from './payment.ts';
import type { Presentation } from './presentation.ts';

/**
 * Cancels a payment for a contact: its creator may, and a contact who may manage the client's payments (docs/decisions.md, 4).
 * @throws Problem payment_not_found, permission_denied, and those of movePayment
 */
export async function cancelPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: { clientId: string; contactId: string; paymentId: string },
): Promise<void> {
  const { clientId, contactId, paymentId } = request;
  const payment = first(
    await tx.query<{ may_cancel: boolean | null }>(
      `select contact_id = $2 or ${mayManage('$1', '$2')} as may_cancel from payments where client_id = $1 and payment_id = $3`,
      [clientId, contactId, paymentId],
    ),
  );
  if (!payment)
    throw new Problem('payment_not_found', { field: 'payment_id', message: 'is not a payment of the client' });
  if (!payment.may_cancel)
    throw new Problem('permission_denied', "the contact needs can_manage_payments to cancel another contact's payment");
  await movePayment(tx, act, presentation, { ...request, action: 'cancel' });
}

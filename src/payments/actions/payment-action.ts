import type { Act } from '../../audit/act.ts';
import type { Transaction } from '../../database/database.ts';
import { requireContact } from '../../identity/people/tenant.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { movePayment } from '../lifecycle.ts';
import type { PaymentAction } from '../moves.ts';
import { findPaymentOwner, type PaymentOwner } from '../payment.ts';
import type { Presentation } from '../presentation.ts';
import { returnPayment } from './payment-return.ts';

export interface PaymentActionRequest {
  paymentId: PaymentId;
  action: PaymentAction;
  /** Who acts; required by authorise and reject. */
  contactId?: string | undefined;
  reason?: string | undefined;
  /** The operator token that acts. */
  onBehalfBy?: string | undefined;
}

/**
 * Acts on any client's payment as the institution's core system does. Not in payments, since a return also credits an account.
 * @returns the payment's internal number and its client
 * @throws Problem payment_not_found, contact_not_found, and those of movePayment
 */
export async function actOnPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: PaymentActionRequest,
): Promise<PaymentOwner> {
  const owner = await findPaymentOwner(tx, request.paymentId);
  const { contactId } = request;
  if (contactId !== undefined) await requireContact(tx, { clientId: owner.client_id, contactId });
  const move = { ...request, clientId: owner.client_id };
  if (request.action === 'return') await returnPayment(tx, act, presentation, move);
  else await movePayment(tx, act, presentation, move);
  return owner;
}

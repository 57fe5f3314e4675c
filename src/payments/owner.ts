import { type Db, first } from '../database/database.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { noPayment } from './payment.ts';

/** The number and the client of any client's payment, for the operator. */
export interface PaymentOwner {
  id: PaymentNumber;
  client_id: string;
}

/** @throws Problem payment_not_found */
export async function findPaymentOwner(db: Db, paymentId: PaymentId): Promise<PaymentOwner> {
  const owner = first(
    await db.query<{ id: PaymentNumber; client_id: string }>(
      'select id, client_id from payments where payment_id = $1',
      [paymentId],
    ),
  );
  return owner ?? noPayment('does not exist');
}

import { type Db, first } from '../database.ts';
import { Problem } from '../errors.ts';

/** The internal number and the client of any client's payment, for the operator. @throws Problem payment_not_found */
export async function findPaymentOwner(db: Db, paymentId: string): Promise<{ id: number; client_id: string }> {
  const owner = first(
    await db.query<{ id: number; client_id: string }>('select id, client_id from payments where payment_id = $1', [
      paymentId,
    ]),
  );
  if (!owner) throw new Problem('payment_not_found', { field: 'payment_id', message: 'does not exist' });
  return owner;
}

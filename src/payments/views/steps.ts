import { auditOf } from '../../audit/record.ts';
import { type Db, first } from '../../database/database.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { noPayment } from '../payment.ts';

/** Rows of the audit trail that are looked through. */
const MAX_ROWS = 200;

/** A status that a payment has had. */
export interface PaymentStep {
  status: string;
  at: Date;
}

/** What the pages show of a payment's way in addition to the payment itself. */
export interface PaymentSteps {
  sent_date: Date | null;
  /** In their order. Payments that were imported have only what the import told. */
  steps: PaymentStep[];
}

/** The statuses that a payment of the client has gone through. @throws Problem payment_not_found */
export async function paymentSteps(db: Db, clientId: string, paymentId: PaymentId): Promise<PaymentSteps> {
  const payment = first(
    await db.query<{ created: Date; sent_date: Date | null }>(
      'select created, sent_date from payments where client_id = $1 and payment_id = $2',
      [clientId, paymentId],
    ),
  );
  if (!payment) noPayment();
  const steps: PaymentStep[] = [];
  for (const { at, after } of await auditOf(db, { entity: 'payment', entityId: paymentId, limit: MAX_ROWS })) {
    const status = after?.status;
    if (typeof status === 'string' && steps.at(-1)?.status !== status) steps.push({ status, at });
  }
  return { sent_date: payment.sent_date, steps };
}

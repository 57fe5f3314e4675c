import { auditOf } from '../../audit/record.ts';
import { type Db, first } from '../../database/database.ts';
import { contactNames } from '../../identity/people/contact.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import type { PaymentStatus } from '../moves.ts';
import { noPayment } from '../payment.ts';
import { PAYMENTS_BY_ID } from '../payment-fields.ts';

/** The most rows of the audit trail that are examined. */
const MAX_ROWS = 200;

/** A status that a payment has had. */
export interface PaymentStep {
  status: string;
  at: Date;
}

/** What the pages show of a payment's history besides the payment itself. */
export interface PaymentSteps {
  sent_date: Date | null;
  /** In order. Imported payments have only the steps that the import gave. */
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

/** The current state of a payment, and who decided it. */
export interface Outcome {
  payment_id: string;
  status: PaymentStatus;
  /** The person's name; null while it waits, and if the institution decided. */
  by: string | null;
  at: Date | null;
  reason: string | null;
}

/** The current state of a client's payments, for somebody whose decision came too late. */
export async function paymentOutcomes(db: Db, clientId: string, paymentIds: readonly string[]): Promise<Outcome[]> {
  const { rows } = await db.query<Outcome & Record<string, unknown>>({
    name: 'payment-outcomes',
    text: `select p.payment_id, p.status, o.contact_id as by, o.at, p.reason
      from ${PAYMENTS_BY_ID} cross join lateral (values (
        case p.phase when 1 then null when 4 then p.rejected_by when 5 then p.cancelled_by else p.authorised_by end,
        case p.phase when 1 then null when 4 then p.rejected_date when 5 then p.cancelled_date else p.authorised_date end)
      ) o (contact_id, at)`,
    values: [clientId, paymentIds],
  });
  const names = await contactNames(
    db,
    rows.flatMap(({ by }) => by ?? []),
  );
  return rows.map((row) => ({ ...row, by: (row.by && names.get(row.by)) ?? null }));
}

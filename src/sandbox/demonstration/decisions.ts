import { closeApprovals, decide as decideApproval } from '../../approvals/decisions.ts';
import type { Act } from '../../audit/act.ts';
import { noteChange } from '../../audit/change.ts';
import { first, type Transaction } from '../../database/database.ts';
import type { PaymentStatus } from '../../payments/moves.ts';
import { startOfLondonDay } from '../../values/calendar.ts';
import type { PaymentNumber } from '../../values/identifiers.ts';
import type { DemoPayment } from './history.ts';

const HOUR_MS = 3_600_000;
/** Milliseconds from the creation of a payment to its decision. */
const DECIDED_AFTER_MS = 2 * HOUR_MS;
/** Milliseconds from the start of the payment date until the payment is sent. */
const SENT_AFTER_MS = 9 * HOUR_MS;

/** The columns of a payment that decisions change. */
export interface DecidedPayment {
  id: PaymentNumber;
  status: PaymentStatus;
  authorised_by?: string;
  authorised_date?: Date;
  rejected_by?: string;
  rejected_date?: Date;
  cancelled_by?: string;
  cancelled_date?: Date;
  sent_date?: Date | null;
}

/** Lets the approvers and the institution decide about a pending payment, until it has reached its status. */
export async function decide(
  tx: Transaction,
  act: Act,
  payment: DemoPayment,
  id: PaymentNumber,
): Promise<DecidedPayment> {
  const { now } = act;
  const { input, status } = payment;
  if (status === 'Payment pending of authorization') return { id, status };
  const clientId = input.client_id;
  const decided = new Date(Math.min(payment.created.getTime() + DECIDED_AFTER_MS, now.getTime()));
  if (status === 'Payment cancelled') {
    await closeApprovals(tx, [{ clientId, id }]);
    return { id, status, cancelled_by: input.contact_id, cancelled_date: decided };
  }
  for (;;) {
    const contactId = await nextApprover(tx, clientId, id);
    // When the demonstration is made again, contacts may have lost permissions. The payment then waits.
    if (contactId === undefined) return { id, status: 'Payment pending of authorization' };
    const decision = { clientId, id, paymentId: input.payment_id, contactId, now: decided };
    // The feed tells of each approval. Otherwise a reset would report the removal of approvals that no reader knows.
    const approval = `${input.payment_id}/${contactId}`;
    noteChange(tx, act, { entity: 'approval', id: approval, clientId, action: 'import', created: true });
    if (status === 'Payment rejected') {
      await decideApproval(tx, { ...decision, action: 'reject' }, true);
      return { id, status, rejected_by: contactId, rejected_date: decided };
    }
    const outcome = await decideApproval(tx, { ...decision, action: 'authorise' }, true);
    if (outcome.status === 'Approved') {
      const sent_date = sentDate(payment, decided, now);
      return { id, status, authorised_by: contactId, authorised_date: decided, sent_date };
    }
  }
}

async function nextApprover(tx: Transaction, clientId: string, id: number): Promise<string | undefined> {
  const approver = first(
    await tx.query<{ contact_id: string }>(
      `select contact_id from payment_approvers where client_id = $1 and payment_id = $2 and may_authorise
       order by contact_id desc limit 1`,
      [clientId, id],
    ),
  );
  return approver?.contact_id;
}

/** When a payment was sent: on its payment date, but neither before its decision nor after now. */
function sentDate({ input, status }: DemoPayment, decided: Date, now: Date): Date | null {
  if (status !== 'Payment complete' && status !== 'Executing Payment') return null;
  const day = startOfLondonDay(input.payment_date).getTime() + SENT_AFTER_MS;
  return new Date(Math.min(Math.max(day, decided.getTime()), now.getTime()));
}

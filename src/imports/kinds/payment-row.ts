import { type ImportedPayment, readMoment } from '../../payments/declaration.ts';
import type { PaymentStatus } from '../../payments/moves.ts';
import { type NewPayment, PENDING, readPayment, requirePaymentDate } from '../../payments/new-payment.ts';
import { startOfLondonDay } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';
import type { ImportRow } from '../kind.ts';

export type PaymentImportRow = ImportRow<ImportedPayment> & NewPayment;

/** Reads and checks the fields of a payment. @throws Problem invalid_body, invalid_parameter */
export function readImportedPayment(line: number, input: ImportedPayment, now: Date): PaymentImportRow {
  requirePaymentDate(input);
  checkDecision(input, 'cancelled', 'Payment cancelled');
  checkDecision(input, 'rejected', 'Payment rejected');
  const payment = readPayment(input, readMoment(input.created_date, 'created_date') ?? now);
  const { history, created } = payment;
  for (const decision of ['authorised', 'cancelled', 'rejected'] as const) {
    history[`${decision}_by`] = input[`${decision}_by`] ?? null;
    history[`${decision}_date`] = readMoment(input[`${decision}_date`], `${decision}_date`);
  }
  history.sent_date = readMoment(input.sent_date, 'sent_date') ?? sentByStatus(input, created, now);
  if (input.uuid !== undefined) payment.uuid = input.uuid;
  payment.status = input.status;
  // An approval is opened only if the payment may be pending.
  if ((input.status ?? PENDING) !== PENDING) payment.given = null;
  return Object.assign(payment, { line, input });
}

/** Checks that who cancelled or rejected a payment, and when, is given only with that status. */
function checkDecision(input: ImportedPayment, decision: 'cancelled' | 'rejected', status: PaymentStatus): void {
  if (input.status === status) return;
  for (const field of [`${decision}_by`, `${decision}_date`] as const) {
    if (input[field] != null)
      throw new Problem('invalid_body', { field, message: `is allowed only with the status "${status}"` });
  }
}

/** When a payment that is executed or complete was sent: on its payment date if the core system does not give the moment. */
function sentByStatus(input: ImportedPayment, created: Date, now: Date): Date | null {
  if (input.status !== 'Executing Payment' && input.status !== 'Payment complete') return null;
  const day = Math.min(startOfLondonDay(input.payment_date).getTime(), now.getTime());
  return new Date(Math.max(day, created.getTime()));
}

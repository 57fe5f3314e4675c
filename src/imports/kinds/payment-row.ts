import { randomUUID } from 'node:crypto';
import type { Requirement } from '../../approvals/workflow.ts';
import type { Payee, PayeeState } from '../../beneficiaries/payee.ts';
import type { PaymentInput } from '../../payments/creation.ts';
import type { PaymentStatus } from '../../payments/moves.ts';
import { isCalendarDay, parseInstant, startOfLondonDay } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';
import { decimal } from '../../values/money.ts';
import type { ImportRow } from '../kind.ts';

/** A payment as the core system has it: in addition to what creates one, how far it has got, and when. */
export interface ImportedPayment extends PaymentInput {
  status?: PaymentStatus;
  uuid?: string;
  created_date?: string;
  authorised_by?: string | null;
  authorised_date?: string | null;
  cancelled_by?: string | null;
  cancelled_date?: string | null;
  rejected_by?: string | null;
  rejected_date?: string | null;
  sent_date?: string | null;
}

/** A payment that has been read; `check` adds its creator's name, its workflow, whom it pays and what approval it requires. */
export interface PaymentImportRow extends ImportRow<ImportedPayment> {
  /** As PostgreSQL writes it. */
  uuid: string;
  amount: string;
  fee: string | null;
  status: PaymentStatus | undefined;
  created: Date;
  authorised: Date | null;
  cancelled: Date | null;
  rejected: Date | null;
  sent: Date | null;
  creatorName: string;
  workflow: string;
  /** Undefined until `check` has found it. */
  payee: (Payee & PayeeState) | undefined;
  requirement: Requirement | null;
}

export const PENDING: PaymentStatus = 'Payment pending of authorization';
export const VALIDATING: PaymentStatus = 'Validating beneficiary information';

/** Reads a payment's fields, each checked. @throws Problem invalid_body, invalid_parameter */
export function readPayment(line: number, input: ImportedPayment, now: Date): PaymentImportRow {
  if (!isCalendarDay(input.payment_date))
    throw new Problem('invalid_body', { field: 'payment_date', message: 'must be a calendar day as YYYY-MM-DD' });
  checkDecision(input, 'cancelled', 'Payment cancelled');
  checkDecision(input, 'rejected', 'Payment rejected');
  const created = readMoment(input.created_date, 'created_date') ?? now;
  return {
    line,
    input,
    id: input.payment_id,
    uuid: input.uuid ?? randomUUID(),
    amount: decimal(input.amount, 'amount', { positive: true }),
    fee: input.fee_amount == null ? null : decimal(input.fee_amount, 'fee_amount'),
    status: input.status,
    created,
    authorised: readMoment(input.authorised_date, 'authorised_date'),
    cancelled: readMoment(input.cancelled_date, 'cancelled_date'),
    rejected: readMoment(input.rejected_date, 'rejected_date'),
    sent: readMoment(input.sent_date, 'sent_date') ?? sentByStatus(input, created, now),
    creatorName: '',
    workflow: '',
    payee: undefined,
    requirement: null,
  };
}

/** The status that a payment is stored with. */
export function statusOf(row: PaymentImportRow): PaymentStatus {
  return row.status ?? (row.requirement ? PENDING : VALIDATING);
}

/** Who cancelled or rejected a payment, and when, is given only with that status. */
function checkDecision(input: ImportedPayment, decision: 'cancelled' | 'rejected', status: PaymentStatus): void {
  if (input.status === status) return;
  for (const field of [`${decision}_by`, `${decision}_date`] as const) {
    if (input[field] != null)
      throw new Problem('invalid_body', { field, message: `is allowed only with the status "${status}"` });
  }
}

/** A payment that is executed or complete was sent: on its payment date where the core system does not say when. */
function sentByStatus(input: ImportedPayment, created: Date, now: Date): Date | null {
  if (input.status !== 'Executing Payment' && input.status !== 'Payment complete') return null;
  const day = Math.min(startOfLondonDay(input.payment_date).getTime(), now.getTime());
  return new Date(Math.max(day, created.getTime()));
}

/** An instant of the core system: ISO 8601 with an offset, or a day, which is its London midnight. */
export function readMoment(text: string | null | undefined, field: string): Date | null {
  if (text == null) return null;
  const instant = parseInstant(text) ?? (isCalendarDay(text) ? startOfLondonDay(text) : undefined);
  if (!instant)
    throw new Problem('invalid_body', { field, message: 'must be a day or an ISO 8601 timestamp with an offset' });
  return instant;
}

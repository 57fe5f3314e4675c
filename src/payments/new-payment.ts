import { randomUUID } from 'node:crypto';
import type { BegunApproval } from '../approvals/opening.ts';
import type { Requirement } from '../approvals/requirement.ts';
import { PAYEE_COLUMNS, type Payee, type PayeeState } from '../beneficiaries/payee.ts';
import type { Columns, CopyValue } from '../database/copy.ts';
import { isCalendarDay } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { decimal } from '../values/money.ts';
import { PAYMENT, type PaymentInput } from './declaration.ts';
import type { PaymentStatus } from './moves.ts';

/** How far an imported payment has come. */
export interface PaymentHistory {
  authorised_by?: string | null;
  authorised_date?: Date | null;
  cancelled_by?: string | null;
  cancelled_date?: Date | null;
  rejected_by?: string | null;
  rejected_date?: Date | null;
  sent_date?: Date | null;
}

/** A payment that is to be created. Amounts are decimal strings. */
export interface NewPayment {
  input: PaymentInput;
  /** The caller's identifier; undefined if the service makes one. */
  id: string | undefined;
  /** In PostgreSQL's spelling. */
  uuid: string;
  amount: string;
  fee: string | null;
  /** Undefined if its approval determines the status. */
  status: PaymentStatus | undefined;
  created: Date;
  history: PaymentHistory;
  /** The multi payment that it belongs to. */
  multipaymentId?: number;
  /** Path of the payment in the request, which precedes the names of its fields: `payments[3].` */
  inside: string;
  /** The requirement of its approval, if the client's rules do not decide it; null: no approval is needed. */
  given?: Requirement | null | undefined;
  /** `judgePayments` fills in the parties, and the requirement of its approval (null if none is needed). */
  creatorName: string;
  workflow: string;
  payee: (Payee & PayeeState) | undefined;
  /** What its client ordered; undefined if the institution creates the payment. */
  ordered?: OrderedPayment | undefined;
  /** Whether its beneficiary may have to be added to its trade. */
  joinsTrade: boolean;
  requirement: Requirement | null;
  /** Set by `writePayments`. */
  approval: BegunApproval | undefined;
}

/** What a client gives with the order of a payment, and what follows from it. */
export interface OrderedPayment {
  order_reason: string | null;
  purpose_of_payment: string | null;
  email_beneficiary: boolean | null;
  /** The beneficiary's bank account. */
  account_id: number | null;
  funding_account_id: number | null;
  quote_id: string | null;
  request_index: number | null;
  instruction_id: string | null;
  end_to_end_id: string | null;
  /** Whether its trade belongs only to it. */
  own_trade: boolean;
  /** The part of the daily limit that it uses, a decimal in the limit's currency. */
  limit_amount: string | null;
  limit_currency: string | null;
}

/** What is known of a payment besides its body. */
export type PaymentOrigin = Partial<Pick<NewPayment, 'multipaymentId' | 'inside' | 'given'>>;

export const PENDING: PaymentStatus = 'Payment pending of authorization';
const VALIDATING: PaymentStatus = 'Validating beneficiary information';

/** Reads and checks the fields of a payment. @throws Problem invalid_body */
export function readPayment(
  input: PaymentInput,
  now: Date,
  { inside = '', ...origin }: PaymentOrigin = {},
): NewPayment {
  const amount = decimal(input.amount, `${inside}amount`, { positive: true });
  const fee = input.fee_amount == null ? null : decimal(input.fee_amount, `${inside}fee_amount`);
  requirePaymentDate(input, inside);
  return {
    ...{ input, id: input.payment_id, uuid: randomUUID(), amount, fee, status: undefined, created: now, history: {} },
    ...{ inside, creatorName: '', workflow: '', payee: undefined, joinsTrade: true, requirement: null },
    ...{ approval: undefined, ...origin },
  };
}

/** @throws Problem invalid_body */
export function requirePaymentDate({ payment_date: day }: PaymentInput, inside = ''): void {
  if (!isCalendarDay(day))
    throw new Problem('invalid_body', {
      field: `${inside}payment_date`,
      message: 'must be a calendar day as YYYY-MM-DD',
    });
}

/** The status with which a payment is stored. Its creation may already complete its approval. */
export function statusOf({ status, approval }: NewPayment): PaymentStatus {
  if (approval) return approval.complete ? VALIDATING : PENDING;
  return status ?? VALIDATING;
}

/** The columns of a payment. */
export const NEW_PAYMENT_COLUMNS: Columns<NewPayment> = PAYMENT.written({
  payment_id: ({ id }) => id,
  uuid: ({ uuid }) => uuid,
  amount: ({ amount }) => amount,
  fee_amount: ({ fee }) => fee,
  status: statusOf,
  ordered_by_name: ({ creatorName }) => creatorName,
  created: ({ created }) => created,
  authorised_by: ({ approval, history, input }) => (approval?.complete ? input.contact_id : history.authorised_by),
  authorised_date: ({ approval, history, created }) => (approval?.complete ? created : history.authorised_date),
  cancelled_by: ({ history }) => history.cancelled_by,
  cancelled_date: ({ history }) => history.cancelled_date,
  rejected_by: ({ history }) => history.rejected_by,
  rejected_date: ({ history }) => history.rejected_date,
  sent_date: ({ history }) => history.sent_date,
  authorisation_workflow: ({ workflow }) => workflow,
  multipayment_id: ({ multipaymentId }) => multipaymentId,
  source: ({ ordered }) => (ordered ? 'client' : 'institution'),
  order_reason: ({ ordered }) => ordered?.order_reason,
  purpose_of_payment: ({ ordered }) => ordered?.purpose_of_payment,
  email_beneficiary: ({ ordered }) => ordered?.email_beneficiary,
  account_id: ({ ordered }) => ordered?.account_id,
  funding_account_id: ({ ordered }) => ordered?.funding_account_id,
  quote_id: ({ ordered }) => ordered?.quote_id,
  request_index: ({ ordered }) => ordered?.request_index,
  instruction_id: ({ ordered }) => ordered?.instruction_id,
  end_to_end_id: ({ ordered }) => ordered?.end_to_end_id,
  own_trade: ({ ordered }) => ordered?.own_trade ?? false,
  limit_amount: ({ ordered }) => ordered?.limit_amount,
  limit_currency: ({ ordered }) => ordered?.limit_currency,
  ...Object.fromEntries(PAYEE_COLUMNS.map((column) => [column, ({ payee }: NewPayment): CopyValue => payee?.[column]])),
});

import type { Payee } from '../beneficiaries/payee.ts';
import type { Transaction } from '../database/database.ts';
import { insertRow } from '../database/rows.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import type { PaymentStatus } from './moves.ts';

/** A payment as it is written: a value for each column, by the column's name. Amounts are decimal strings, days `YYYY-MM-DD`. */
export interface NewPayment extends Payee {
  client_id: string;
  payment_id: PaymentId;
  /** The creator, and its name. */
  contact_id: string;
  ordered_by_name: string;
  trade_id: string;
  beneficiary_id: string;
  uuid: string;
  scheme: Scheme;
  amount: string;
  payment_currency: string;
  fee_amount: string | null;
  fee_currency: string | null;
  reference: string | null;
  status: PaymentStatus;
  charges: string | null;
  invoice_required: boolean;
  created: Date;
  payment_date: string;
  authorisation_workflow: string;
  mass_payment_id: string | null;
  mass_payment_external_reference_id: string | null;
}

/** What an imported payment has in addition: how far it has come. */
export interface PaymentHistory {
  authorised_by: string | null;
  authorised_date: Date | null;
  cancelled_by: string | null;
  cancelled_date: Date | null;
  rejected_by: string | null;
  rejected_date: Date | null;
  sent_date: Date | null;
}

/** Inserts one payment. @param multipaymentId the multi payment that it belongs to, or null */
export async function insertPayment(
  tx: Transaction,
  payment: NewPayment & { multipayment_id: number | null },
): Promise<PaymentNumber> {
  const { id } = await insertRow<{ id: PaymentNumber }>(tx, 'payments', payment, { returning: 'id' });
  return id;
}

/** Payment schemes; only SWIFT payments can be tracked by their uuid. */
export const SCHEMES = [
  'SWIFT',
  'SEPA',
  'SEPA_INSTANT',
  'FPS',
  'BACS',
  'CHAPS',
  'ACH',
  'FEDWIRE',
  'TARGET2',
  'LOCAL',
  'INTERNAL',
] as const;
export type Scheme = (typeof SCHEMES)[number];

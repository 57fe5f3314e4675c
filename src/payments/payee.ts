/**
 * Whom a payment pays: as the beneficiary was when the payment was created. A beneficiary that is changed later changes later payments
 * only, so that approvals stand for exactly what was approved (docs/decisions.md, 2). Columns have the same names in both tables.
 */
export interface Payee {
  beneficiary_name: string;
  account_number: string | null;
  iban: string | null;
  swift_code: string | null;
  bank_identifier: string | null;
}

/** The columns of a payee. */
export const PAYEE_COLUMNS = ['beneficiary_name', 'account_number', 'iban', 'swift_code', 'bank_identifier'] as const;

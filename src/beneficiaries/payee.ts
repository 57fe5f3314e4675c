/**
 * The payee of a payment, as the beneficiary was when the payment was created. A later change of the beneficiary affects only later
 * payments, so an approval covers exactly what was approved (docs/decisions.md, 2). Columns have the same names in both tables.
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

/** What payments show of the current state of their beneficiary. */
export interface PayeeState {
  beneficiary_aml_id: string | null;
  active: boolean;
  authorised: boolean;
  blocked: boolean;
  completed: boolean;
  verified: boolean;
}

/** The columns of `PayeeState` in the table of beneficiaries. */
export const PAYEE_STATE_COLUMNS = [
  'beneficiary_aml_id',
  'active',
  'authorised',
  'blocked',
  'completed',
  'verified',
] as const;

import type { RowFault } from './initiation.ts';

/** Maps the states of rows and payments to ISO 20022 (docs/iso-20022.md, Statuses). */

/** The status of a transaction, with its reason. */
export interface Reported {
  status: 'PDNG' | 'PATC' | 'ACCP' | 'ACWC' | 'ACSP' | 'ACSC' | 'RJCT' | 'CANC';
  reasons: Reason[];
}

export interface Reason {
  /** A code of the external code set StatusReason. */
  code: string;
  /** Our own code, and a sentence. */
  information: string;
}

/** The progress of a transaction. The least advanced one is the status of its group. ACWC counts as ACCP with a change. */
const ADVANCE = ['PDNG', 'PATC', 'ACCP', 'ACSP', 'ACSC'] as const;
export type GroupStatus = Reported['status'] | 'PART' | 'ACTC';

/** The status of several transactions together, for a block or a file. @param statuses at least one */
export function groupStatus(statuses: ReadonlySet<Reported['status']>): GroupStatus {
  const [only] = statuses;
  if (statuses.size === 1 && only) return only;
  if (statuses.has('RJCT') || statuses.has('CANC')) return 'PART';
  const least = ADVANCE.find((status) => statuses.has(status) || (status === 'ACCP' && statuses.has('ACWC'))) ?? 'PDNG';
  return least === 'ACCP' && statuses.has('ACWC') ? 'ACWC' : least;
}

/** The parts of a mass payment's row on which its status depends. */
export interface RowState {
  state: 'waiting' | 'valid' | 'invalid' | 'created';
  faults: readonly RowFault[];
  /** Why its day differs from the requested one. */
  warning: string | null;
  payment: PaymentState | null;
}

export interface PaymentState {
  /** A status of the payment search. */
  status: string;
  invalidated: boolean;
  returned: boolean;
  /** The reason for which somebody rejected or cancelled it. */
  reason: string | null;
  /** The reason for which its return started. */
  returnReason: string | null;
}

/** How a mass payment ended before it made payments. */
export type FileEnd = { status: 'Cancelled' } | { status: 'Failed'; code: string; details: string };

/** The status of a transaction. @param end of its file, if that has ended without payments */
export function reportOf(row: RowState, end: FileEnd | undefined): Reported {
  if (row.state === 'invalid' && row.faults.length > 0)
    return { status: 'RJCT', reasons: row.faults.map(reasonOfFault) };
  if (row.payment) return reportOfPayment(row.payment, row.warning);
  if (end?.status === 'Cancelled')
    return { status: 'CANC', reasons: [because('DS02', 'cancelled', 'the file was cancelled')] };
  if (end) return { status: 'RJCT', reasons: [reasonOfFault({ code: end.code, field: '', message: end.details })] };
  if (row.state === 'waiting') return { status: 'PDNG', reasons: [] };
  return accepted(row.warning);
}

function accepted(warning: string | null): Reported {
  if (warning === null) return { status: 'ACCP', reasons: [] };
  return { status: 'ACWC', reasons: [{ code: 'DT06', information: warning }] };
}

/** A reason that `start_return` may have been given: a code of ExternalReturnReason, such as AC04. */
const RETURN_CODE = /^[A-Z]{2}[A-Z0-9]{2}$/;

/** Payment statuses that alone determine the progress. For any other status, more is examined. */
const PAYMENTS: Record<string, Reported['status']> = {
  'Payment pending of authorization': 'PATC',
  'Executing Payment': 'ACSP',
  'Payment complete': 'ACSC',
};

function reportOfPayment(payment: PaymentState, warning: string | null): Reported {
  const { status, reason, returnReason } = payment;
  if (payment.returned) {
    const code = returnReason !== null && RETURN_CODE.test(returnReason) ? returnReason : 'NARR';
    return { status: 'RJCT', reasons: [because(code, 'returned', returnReason)] };
  }
  if (payment.invalidated) return { status: 'RJCT', reasons: [because('NARR', 'invalidated', reason)] };
  if (status === 'Payment rejected') return { status: 'RJCT', reasons: [because('CUST', 'rejected', reason)] };
  if (status === 'Payment cancelled') return { status: 'CANC', reasons: [because('DS02', 'cancelled', reason)] };
  if (status === 'Waiting for payment date') return accepted(warning);
  return { status: PAYMENTS[status] ?? 'PDNG', reasons: [] };
}

/** Fault codes that alone determine the reason. */
const BY_CODE: Record<string, string> = {
  ...each('AC11', 'currency_not_allowed', 'currency_mismatch'),
  ...each(
    'AC03',
    'invalid_iban',
    'iban_country_mismatch',
    'invalid_account_number',
    'invalid_clabe',
    'details_disagree',
  ),
  ...each('RC07', 'invalid_bic', 'bic_country_mismatch'),
  ...each('RC10', 'invalid_bank_identifier', 'invalid_sort_code', 'invalid_aba'),
  ...each('AM05', 'duplicate_row'),
  ...each('AG01', 'beneficiary_blocked', 'permission_denied', 'fx_not_enabled'),
  ...each('AM04', 'insufficient_funds', 'trade_amount_exceeded', 'limit_exceeded'),
};

/** Fields whose other faults have a code of their own. */
const BY_FIELD: Record<string, string> = {
  ...each('BE22', 'beneficiary_name'),
  ...each('BE04', 'beneficiary_address', 'beneficiary_city', 'beneficiary_country', 'beneficiary_state'),
  ...each('BE04', 'beneficiary_post_code'),
  ...each('AC03', 'iban', 'account_number'),
  ...each('RC07', 'swift_code'),
  ...each('RC10', 'bank_code'),
  ...each('AM12', 'payment_amount'),
  ...each('BE19', 'charges'),
  ...each('DU03', 'uuid'),
};

function each(iso: string, ...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, iso]));
}

/** Why a row is refused, as a code of ISO 20022. */
export function reasonOfFault({ code, field, message }: RowFault): Reason {
  return because(BY_CODE[code] ?? BY_FIELD[field] ?? 'NARR', code, `${field} ${message}`.trim());
}

function because(code: string, ours: string, why: string | null): Reason {
  return { code, information: why ? `${ours}: ${why}` : ours };
}

import { type BeneficiaryGiven, checkedBank } from '../payments/beneficiary.ts';
import { copyRows } from './copy.ts';
import { type ImportKind, Refusals } from './kind.ts';
import { findClients, nextIds, settleIds } from './lookups.ts';

export interface BeneficiaryRow {
  given: BeneficiaryGiven;
  beneficiaryId: string | undefined;
  bank: ReturnType<typeof checkedBank>;
}

const COLUMNS = [
  'beneficiary_id',
  'client_id',
  'beneficiary_name',
  'beneficiary_aml_id',
  'account_number',
  'iban',
  'swift_code',
  'bank_identifier',
  'currency',
  'active',
  'authorised',
  'blocked',
  'completed',
  'verified',
  'created_at',
] as const;

/** Beneficiaries (docs/imports.md); IBAN and BIC are checked as in the single call. */
export const beneficiaryImport: ImportKind<BeneficiaryGiven, BeneficiaryRow> = {
  entity: 'beneficiary',
  batchLines: 5_000,

  read: (given) => ({ given, beneficiaryId: given.beneficiary_id, bank: checkedBank(given) }),

  async check(tx, rows) {
    const refusals = new Refusals();
    const clients = await findClients(
      tx,
      rows.map(({ row }) => row.given.client_id),
    );
    for (const { line, row } of rows) {
      if (!clients.has(row.given.client_id))
        refusals.refuse(line, 'client_not_found', { field: 'client_id', message: 'is no client' });
    }
    await settleIds(
      tx,
      rows,
      refusals,
      { name: 'beneficiaries', column: 'beneficiary_id' },
      {
        get: (row) => row.beneficiaryId,
        set: (row, id) => {
          row.beneficiaryId = id;
        },
      },
      (count) => nextIds(tx, 'beneficiary_numbers', 'BEN', count),
    );
    return refusals;
  },

  async insert(tx, rows, { act }) {
    await copyRows(
      tx,
      'beneficiaries',
      COLUMNS,
      rows.map(({ row: { given, beneficiaryId, bank } }) => [
        beneficiaryId,
        given.client_id,
        given.beneficiary_name,
        given.beneficiary_aml_id,
        given.account_number,
        bank.iban,
        bank.swift_code,
        given.bank_identifier,
        given.currency,
        given.beneficiary_active ?? true,
        given.beneficiary_authorised ?? true,
        given.beneficiary_blocked ?? false,
        given.beneficiary_completed ?? true,
        given.beneficiary_verified ?? true,
        act.now,
      ]),
    );
  },
};

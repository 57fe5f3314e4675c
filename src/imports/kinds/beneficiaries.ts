import { type BeneficiaryInput, checkedBank, updateBeneficiary } from '../../beneficiaries/beneficiary.ts';
import { type Columns, copyRows } from '../../database/copy.ts';
import { fromSequence, resolveIds } from '../identifiers.ts';
import { type Comparison, type ImportKind, type ImportRow, Refusals, sameNames } from '../kind.ts';
import { checkClients } from '../references.ts';

export interface BeneficiaryImportRow extends ImportRow<BeneficiaryInput> {
  bank: ReturnType<typeof checkedBank>;
}

const IDS = {
  table: 'beneficiaries',
  column: 'beneficiary_id',
  make: fromSequence('beneficiary_numbers', 'BEN'),
};

const columns = (now: Date): Columns<BeneficiaryImportRow> => ({
  beneficiary_id: ({ id }) => id,
  client_id: ({ input }) => input.client_id,
  beneficiary_name: ({ input }) => input.beneficiary_name,
  beneficiary_aml_id: ({ input }) => input.beneficiary_aml_id,
  account_number: ({ input }) => input.account_number,
  iban: ({ bank }) => bank.iban,
  swift_code: ({ bank }) => bank.swift_code,
  bank_identifier: ({ input }) => input.bank_identifier,
  currency: ({ input }) => input.currency,
  active: ({ input }) => input.beneficiary_active ?? true,
  authorised: ({ input }) => input.beneficiary_authorised ?? true,
  blocked: ({ input }) => input.beneficiary_blocked ?? false,
  completed: ({ input }) => input.beneficiary_completed ?? true,
  verified: ({ input }) => input.beneficiary_verified ?? true,
  created_at: () => now,
});

const COMPARISON: Comparison = {
  table: 'beneficiaries',
  id: 'beneficiary_id',
  fields: {
    ...sameNames('client_id', 'beneficiary_name', 'beneficiary_aml_id', 'account_number', 'iban', 'swift_code'),
    ...sameNames('bank_identifier', 'currency'),
    beneficiary_active: 't.active',
    beneficiary_authorised: 't.authorised',
    beneficiary_blocked: 't.blocked',
    beneficiary_completed: 't.completed',
    beneficiary_verified: 't.verified',
  },
  forms: {
    iban: (iban) => checkedBank({ iban: iban as string }).iban,
    swift_code: (bic) => checkedBank({ swift_code: bic as string }).swift_code,
  },
};

/** Beneficiaries (docs/imports.md); IBAN and BIC are checked as in the single call. */
export const beneficiaryImport: ImportKind<BeneficiaryInput, BeneficiaryImportRow> = {
  entity: 'beneficiary',
  batchRows: 5_000,
  claims: [{ field: 'beneficiary_id', id: ({ id }) => id }],
  comparison: COMPARISON,
  update: {
    fixed: ['client_id'],
    async write(tx, rows, { act }) {
      for (const { id, input } of rows) await updateBeneficiary(tx, act, id as string, input);
    },
  },

  read: (line, input) => ({ line, input, id: input.beneficiary_id, bank: checkedBank(input) }),

  async check(tx, rows) {
    const refusals = new Refusals();
    await checkClients(tx, rows, refusals);
    await resolveIds(tx, rows, refusals, IDS);
    return refusals;
  },

  insert: (tx, rows, { act }) => copyRows(tx, 'beneficiaries', columns(act.now), rows),
};

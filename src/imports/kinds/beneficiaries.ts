import { BENEFICIARY, type BeneficiaryInput, updateBeneficiary } from '../../beneficiaries/beneficiary.ts';
import { copyRows } from '../../database/copy.ts';
import type { Stored } from '../../database/record.ts';
import { existingClients, noClient } from '../../identity/people/tenant.ts';
import { resolveIds } from '../identifiers.ts';
import { type ImportKind, type ImportRow, Refusals } from '../kind.ts';

interface BeneficiaryImportRow extends ImportRow<BeneficiaryInput> {
  stored: Stored;
}

/** Beneficiaries (docs/imports.md); IBAN and BIC are checked as in the single call. */
export const beneficiaryImport: ImportKind<BeneficiaryInput, BeneficiaryImportRow> = {
  entity: 'beneficiary',
  batchRows: 5_000,
  claims: [{ field: 'beneficiary_id', id: ({ id }) => id }],
  comparison: BENEFICIARY.comparison,
  update: {
    fixed: BENEFICIARY.fixed,
    async write(tx, rows, { act }) {
      for (const { id, input } of rows) await updateBeneficiary(tx, act, id as string, input);
    },
  },

  read: (line, input) => ({ line, input, id: input.beneficiary_id, stored: BENEFICIARY.stored(input) }),

  async check(tx, rows) {
    const clients = await existingClients(
      tx,
      rows.map(({ input }) => input.client_id),
    );
    const unknown = rows.filter(({ input }) => !clients.has(input.client_id));
    const refusals = new Refusals(unknown.map(({ line }) => [line, noClient()]));
    await resolveIds(tx, rows, refusals, 'beneficiary');
    return refusals;
  },

  insert(tx, rows, { act: { now } }) {
    const columns = BENEFICIARY.copied<BeneficiaryImportRow>({ beneficiary_id: ({ id }) => id, created_at: () => now });
    return copyRows(tx, BENEFICIARY.table, columns, rows);
  },
};

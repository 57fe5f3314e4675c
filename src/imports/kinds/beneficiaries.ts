import { KEY_COLUMNS } from '../../beneficiaries/account-key.ts';
import { updateBeneficiary, VERSION_OF } from '../../beneficiaries/beneficiary.ts';
import { BENEFICIARY, type BeneficiaryInput, completed, type VersionGiven } from '../../beneficiaries/declaration.ts';
import { copyRows } from '../../database/copy.ts';
import type { Stored } from '../../database/record.ts';
import { existingClients, noClient } from '../../identity/people/tenant.ts';
import { present } from '../../values/unknown.ts';
import { resolveIds } from '../identifiers.ts';
import { type ImportKind, type ImportRow, Refusals } from '../kind.ts';

type BeneficiaryLine = BeneficiaryInput & VersionGiven;
interface BeneficiaryImportRow extends ImportRow<BeneficiaryLine> {
  stored: Stored;
}

/** Beneficiaries (docs/imports.md). IBAN and BIC are checked as in the single call. */
export const beneficiaryImport: ImportKind<BeneficiaryLine, BeneficiaryImportRow> = {
  entity: 'beneficiary',
  batchRows: 5_000,
  claims: [{ field: 'beneficiary_id', id: ({ id }) => id }],
  comparison: {
    ...BENEFICIARY.comparison,
    // A line with a different version counts as different, and is refused when it is written.
    fields: { ...BENEFICIARY.comparison.fields, version: VERSION_OF },
  },
  update: {
    fixed: BENEFICIARY.fixed,
    async write(tx, rows, { act, notify }) {
      for (const { id, input } of rows) await updateBeneficiary(tx, act, present(id), input, { silent: !notify });
    },
  },

  read(line, input) {
    const stored = BENEFICIARY.stored(input);
    // A line that only changes a record may have no name. Its result is checked when it is written.
    const whole = input.beneficiary_name === undefined ? stored : completed(stored);
    return { line, input, id: input.beneficiary_id, stored: whole };
  },

  async check(tx, rows) {
    const clients = await existingClients(
      tx,
      rows.map(({ input }) => input.client_id),
    );
    const unknown = rows.filter(({ input }) => !clients.has(input.client_id));
    const refusals = new Refusals(unknown.map(({ line }) => [line, noClient()]));
    for (const { line, input } of rows)
      if (input.version !== undefined)
        refusals.refuse(line, 'version_mismatch', { field: 'version', message: 'there is no such record' });
    await resolveIds(tx, rows, refusals, 'beneficiary');
    return refusals;
  },

  insert(tx, rows, { act: { now } }) {
    const columns = BENEFICIARY.copied<BeneficiaryImportRow>({
      ...Object.fromEntries(KEY_COLUMNS.map((name) => [name, ({ stored }: BeneficiaryImportRow) => stored[name]])),
      beneficiary_id: ({ id }) => id,
      created_at: () => now,
    });
    return copyRows(tx, BENEFICIARY.table, columns, rows);
  },
};

import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import { tryBeneficiaries } from '../../beneficiaries/creation.ts';
import { MAX_EMAIL_ADDRESSES } from '../../beneficiaries/declaration.ts';
import type { OrderedFields } from '../../beneficiaries/order.ts';
import { newId } from '../../database/cells/identifiers.ts';
import { type Columns, writeRows } from '../../database/copy.ts';
import { leaveWork, type Transaction } from '../../database/database.ts';
import type { Orderer } from '../../payments/orders/order.ts';
import { present } from '../../values/unknown.ts';
import { rowsOfCsv } from '../csv-rows.ts';
import { answered, DUPLICATE_ROW, faultOf, type RowFault, repeated, sameness } from '../rows.ts';
import { inTurns } from '../turns.ts';
import type { MassBeneficiary } from './declaration.ts';
import type { MassBeneficiaryError } from './errors.ts';
import { findMassBeneficiary } from './reading.ts';

/** Orders by which a client creates many beneficiaries at once (instructions, second page, 8). */

/** A row that was read. */
export interface PayeeRow {
  /** Its place in the file, from 0. */
  index: number;
  sent: unknown;
  fields: OrderedFields;
  /** Faults that do not depend on the client's data. */
  faults: RowFault[];
}

/**
 * The rows of a CSV as request bodies, with the faults of each row as a whole.
 * @param known the fields of a body.
 * @throws Problem invalid_body
 */
export async function bodiesOfCsv(
  text: string,
  known: readonly string[],
): Promise<{ index: number; body: object; faults: RowFault[] }[]> {
  const rows = await rowsOfCsv(text, known, 'a beneficiary');
  return rows.map(({ index, cells, faults }) => {
    const { email_notification: mails, email_addresses: addresses } = cells;
    const flag = mails === 'true' || (mails === 'false' ? false : mails);
    return {
      index,
      body: {
        ...cells,
        ...(mails !== undefined && { email_notification: flag }),
        ...(addresses !== undefined && {
          email_addresses: addresses.split(';', MAX_EMAIL_ADDRESSES + 1).map((address) => address.trim()),
        }),
      },
      faults,
    };
  });
}

/** The faults of each row that are known without the client's data. */
async function faultsOf(rows: readonly PayeeRow[]): Promise<RowFault[][]> {
  const duplicates = repeated(await inTurns(rows, (some) => some.map(({ sent }) => sameness(sent))));
  return rows.map(({ faults }, place) => [...(duplicates[place] ? [DUPLICATE_ROW] : []), ...faults]);
}

/** The faults of a row in the form in which they are reported. */
export const reported = (index: number, faults: readonly RowFault[]): MassBeneficiaryError[] =>
  answered(faults).map((fault) => ({ ...fault, request_index: index }));

/** Accepts rows. Each is judged soon, and made if it has no fault. */
export async function takeMassBeneficiary(
  tx: Transaction,
  act: Act,
  { clientId, contactId, rows }: Orderer & { rows: readonly PayeeRow[] },
): Promise<MassBeneficiary> {
  const id = await newId(tx, clientId, 'mass_beneficiary_id');
  await tx.query(
    `insert into mass_beneficiaries (mass_beneficiary_id, client_id, status, created_at, created_by, received, made, errored)
     values ($1, $2, 'queued', $3, $4, $5, 0, 0)`,
    [id, clientId, act.now, contactId, rows.length],
  );
  const faults = await faultsOf(rows);
  const stored = rows.map(({ index, fields }, place) => ({ index, fields, faults: faults[place] ?? [] }));
  const columns: Columns<(typeof stored)[number]> = {
    client_id: () => clientId,
    mass_beneficiary_id: () => id,
    request_index: ({ index }) => index,
    fields: (row) => (row.faults.length > 0 ? null : JSON.stringify(row.fields)),
    faults: (row) => (row.faults.length > 0 ? JSON.stringify(row.faults) : null),
  };
  await writeRows(tx, 'mass_beneficiary_rows', columns, stored);
  leaveWork(tx, 'orders');
  const taken = await findMassBeneficiary(tx, id, clientId);
  const { errors: _errors, ...after } = taken;
  audit(tx, act, { action: 'create', entity: 'mass_beneficiary', entityId: id, clientId, after });
  return taken;
}

/** What would become of rows. Nothing is stored. */
export interface TriedRows {
  rows_received: number;
  rows_errored: number;
  errors: MassBeneficiaryError[];
}

/** Judges rows immediately, as if they had been sent now, and stores nothing. */
export async function tryMassBeneficiary(
  tx: Transaction,
  clientId: string,
  rows: readonly PayeeRow[],
): Promise<TriedRows> {
  const faults = await faultsOf(rows);
  const valid = [...rows.keys()].filter((place) => faults[place]?.length === 0);
  const fields = valid.map((place) => present(rows[place]).fields);
  const indexOf = (nth: number) => present(rows[present(valid[nth])]).index;
  const refused = await tryBeneficiaries(tx, clientId, fields, (nth) => `row ${indexOf(nth)} of the file`);
  for (const [nth, problem] of refused) faults[present(valid[nth])]?.push(faultOf(problem));
  return {
    rows_received: rows.length,
    rows_errored: faults.filter((each) => each.length > 0).length,
    errors: rows.flatMap(({ index }, place) => reported(index, faults[place] ?? [])),
  };
}

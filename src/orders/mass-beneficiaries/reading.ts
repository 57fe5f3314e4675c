import { type Db, first } from '../../database/database.ts';
import { londonTimestamp } from '../../values/calendar.ts';
import { isUuid } from '../../values/identifiers.ts';
import type { MassBeneficiary } from './declaration.ts';
import { noInstruction, pageOfMassErrors } from './errors.ts';

/** The most errors that the record of an instruction shows. The list of errors has all of them, in pages. */
const MAX_SHOWN_ERRORS = 1_000;

/** An instruction of a client, or of any client (undefined), with its first errors. @throws Problem mass_beneficiary_not_found */
export async function findMassBeneficiary(db: Db, id: string, client?: string): Promise<MassBeneficiary> {
  if (!isUuid(id)) noInstruction();
  const errors = `from mass_beneficiary_errors e
    where e.client_id = ${client === undefined ? 'm.client_id' : '$2'} and e.mass_beneficiary_id = m.mass_beneficiary_id`;
  const found = first(
    await db.query<Omit<MassBeneficiary, 'created_date' | 'errors'> & { created_at: Date }>(
      `select mass_beneficiary_id, client_id, status, created_at, created_by, received as rows_received, made as rows_created,
         coalesce(errored, (select count(distinct e.request_index)::int ${errors})) as rows_errored,
         (select count(*) ${errors}) as error_count
       from mass_beneficiaries m where mass_beneficiary_id = $1${client === undefined ? '' : ' and client_id = $2'}`,
      client === undefined ? [id] : [id, client],
    ),
  );
  if (!found) noInstruction();
  const { created_at: created, ...rest } = found;
  const shown = await pageOfMassErrors(db, { clientId: rest.client_id, id }, { page: 1, pageSize: MAX_SHOWN_ERRORS });
  return { ...rest, created_date: londonTimestamp(created), errors: shown };
}

/** A beneficiary that an instruction has made. */
export interface MadeOfRow {
  request_index: number;
  beneficiary_id: string;
}

/** A page of the beneficiaries that an instruction has made, in the order of its rows. @throws Problem mass_beneficiary_not_found */
export async function listMassMade(
  db: Db,
  { clientId, id }: { clientId: string; id: string },
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ rows: MadeOfRow[]; total: number }> {
  if (!isUuid(id)) noInstruction();
  const found = first(
    await db.query<{ total: number }>(
      'select coalesce(made, 0) as total from mass_beneficiaries where client_id = $1 and mass_beneficiary_id = $2',
      [clientId, id],
    ),
  );
  if (!found) noInstruction();
  const { rows } = await db.query<MadeOfRow & Record<string, unknown>>(
    `select request_index, beneficiary_id from mass_beneficiary_rows
     where client_id = $1 and mass_beneficiary_id = $2 and beneficiary_id is not null order by request_index limit $3 offset $4`,
    [clientId, id, pageSize, (page - 1) * pageSize],
  );
  return { rows, total: found.total };
}

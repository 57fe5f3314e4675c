import { type Static, Type } from 'typebox';
import type { Db, Transaction } from '../../database/database.ts';
import { Problem } from '../../values/errors.ts';
import { isUuid } from '../../values/identifiers.ts';
import { closed, Text } from '../../values/schemas.ts';

/** The most errors in one request. An instruction can have any number, reported in several requests. */
const MAX_MASS_ERRORS = 10_000;

/** Beneficiaries that could not be created (service interface, Mass-beneficiary error record). `request_index` is the index in the instruction. */
export const GIVEN_ERRORS = Type.Array(
  Type.Object(
    {
      code: Text('Code', 128),
      message: Text('Message', 1_000),
      details: Type.String({ maxLength: 2_000 }),
      request_index: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
    },
    closed,
  ),
  { maxItems: MAX_MASS_ERRORS },
);
export const SHOWN_ERRORS = Type.Array(
  Type.Object({ code: Type.String(), message: Type.String(), details: Type.String(), request_index: Type.Integer() }),
  { description: 'The first of them' },
);
export type MassBeneficiaryError = Static<typeof SHOWN_ERRORS>[number];

/**
 * A page of an instruction's errors, in the order in which they were reported. While the instruction is not `created`, the list has what
 * was reported so far (service interface, GET /mass-beneficiaries/{mass_beneficiary_id}/errors).
 * @throws Problem mass_beneficiary_not_found, also for a text that is not a UUID, and for an instruction of another client
 */
export async function listMassBeneficiaryErrors(
  db: Db,
  { clientId, id }: { clientId: string; id: string },
  paging: { page: number; pageSize: number },
): Promise<{ rows: MassBeneficiaryError[]; total: number }> {
  if (!isUuid(id)) noInstruction();
  const found = await db.query<{ total: number }>(
    `select (select count(*) from mass_beneficiary_errors e where e.client_id = $1 and e.mass_beneficiary_id = $2) as total
     from mass_beneficiaries where client_id = $1 and mass_beneficiary_id = $2`,
    [clientId, id],
  );
  if (!found.rows[0]) noInstruction();
  return { rows: await pageOfMassErrors(db, { clientId, id }, paging), total: found.rows[0].total };
}

export async function pageOfMassErrors(
  db: Db,
  { clientId, id }: { clientId: string; id: string },
  { page, pageSize }: { page: number; pageSize: number },
): Promise<MassBeneficiaryError[]> {
  const { rows } = await db.query<MassBeneficiaryError>(
    `select code, message, details, request_index from mass_beneficiary_errors
     where client_id = $1 and mass_beneficiary_id = $2 order by position limit $3 offset $4`,
    [clientId, id, pageSize, (page - 1) * pageSize],
  );
  return rows;
}

/** Adds errors after those that the instruction already has. */
export async function addMassErrors(
  tx: Transaction,
  { clientId, id }: { clientId: string; id: string },
  errors: MassBeneficiaryError[],
): Promise<void> {
  if (errors.length === 0) return;
  await tx.query(
    `insert into mass_beneficiary_errors (client_id, mass_beneficiary_id, position, code, message, details, request_index)
     select $1, $2, n + coalesce((select max(position) from mass_beneficiary_errors where mass_beneficiary_id = $2), 0),
       code, message, details, request_index
     from unnest($3::text[], $4::text[], $5::text[], $6::int[]) with ordinality as e(code, message, details, request_index, n)`,
    [
      clientId,
      id,
      errors.map((error) => error.code),
      errors.map((error) => error.message),
      errors.map((error) => error.details),
      errors.map((error) => error.request_index),
    ],
  );
}

/** @throws Problem mass_beneficiary_not_found, always */
export function noInstruction(): never {
  throw new Problem('mass_beneficiary_not_found', {
    field: 'mass_beneficiary_id',
    message: 'does not exist for this client',
  });
}

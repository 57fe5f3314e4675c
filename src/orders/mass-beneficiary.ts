import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import type { Db, Transaction } from '../database/database.ts';
import {
  chosen,
  type Input,
  initially,
  made,
  type Patch,
  RecordKind,
  required,
  type Shown,
} from '../database/record.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { ClientId, Uuid } from '../values/schemas.ts';
import {
  addMassErrors,
  GIVEN_ERRORS,
  type MassBeneficiaryError,
  noInstruction,
  pageOfMassErrors,
  SHOWN_ERRORS,
} from './mass-beneficiary-errors.ts';

export const MASS_BENEFICIARY_STATUSES = ['queued', 'processing', 'created', 'failed'] as const;
export type MassBeneficiaryStatus = (typeof MASS_BENEFICIARY_STATUSES)[number];

/** Moves of an instruction (docs/decisions.md, 3). */
const NEXT: Record<MassBeneficiaryStatus, readonly MassBeneficiaryStatus[]> = {
  queued: ['processing'],
  processing: ['created', 'failed'],
  created: [],
  failed: [],
};

/** Errors that the record of an instruction shows. The list of errors has all of them, page by page. */
const MAX_SHOWN_ERRORS = 1_000;

/** An instruction to create many beneficiaries. */
export const MASS_BENEFICIARY = new RecordKind({
  table: 'mass_beneficiaries',
  id: 'mass_beneficiary_id',
  fields: {
    mass_beneficiary_id: chosen(Uuid('Chosen by the core; default: a new one'), {
      shown: Type.String({ format: 'uuid' }),
    }),
    client_id: required(ClientId, { shown: ClientId }),
    status: initially(Type.Enum([...MASS_BENEFICIARY_STATUSES]), 'queued'),
    created_date: made(Type.String({ format: 'date-time' })),
    error_count: made(Type.Integer()),
    errors: initially(GIVEN_ERRORS, undefined, { shown: SHOWN_ERRORS }),
  },
});
export type MassBeneficiary = Shown<typeof MASS_BENEFICIARY>;

/** Records an instruction to create many beneficiaries. @throws Problem already_exists, client_not_found */
export async function createMassBeneficiary(
  tx: Transaction,
  act: Act,
  input: Input<typeof MASS_BENEFICIARY>,
): Promise<MassBeneficiary> {
  const { client_id: clientId, status = 'queued', errors = [] } = input;
  const id = await newId(tx, clientId, 'mass_beneficiary_id', input.mass_beneficiary_id);
  const made = await tx.query(
    `insert into mass_beneficiaries (mass_beneficiary_id, client_id, status, created_at)
     select $1, client_id, $3, $4 from clients where client_id = $2`,
    [id, clientId, status, act.now],
  );
  if (made.rowCount !== 1) throw new Problem('client_not_found', { field: 'client_id', message: 'does not exist' });
  await addMassErrors(tx, { clientId, id }, errors);
  const record = await findMassBeneficiary(tx, id);
  const { errors: _errors, ...after } = record;
  audit(tx, act, { action: 'create', entity: 'mass_beneficiary', entityId: id, clientId, after });
  return record;
}

/**
 * Moves an instruction on, and records errors.
 * @param patch `errors` replaces those reported so far, `add_errors` comes after them. The present status
 *   again is not a move while the instruction is in progress, so that progress can be reported with it
 * @throws Problem mass_beneficiary_not_found, transition_not_allowed
 */
export async function updateMassBeneficiary(
  tx: Transaction,
  act: Act,
  id: string,
  patch: Omit<Patch<typeof MASS_BENEFICIARY>, 'mass_beneficiary_id'> & { add_errors?: MassBeneficiaryError[] },
): Promise<MassBeneficiary> {
  if (!isUuid(id)) noInstruction();
  await tx.query('select from mass_beneficiaries where mass_beneficiary_id = $1 for no key update', [id]);
  const { errors: _before, ...before } = await findMassBeneficiary(tx, id);
  const { client_id: clientId, status: present } = before;
  if (patch.client_id !== undefined && patch.client_id !== clientId) noInstruction();
  const { status = present } = patch;
  const stays = patch.status === undefined || (patch.status === present && NEXT[present].length > 0);
  if (!stays && !NEXT[present].includes(status)) {
    const allowed = NEXT[present].join(', ') || 'none';
    throw new Problem('transition_not_allowed', {
      field: 'status',
      message: `the instruction is ${present} and allows: ${allowed}`,
    });
  }
  await tx.query('update mass_beneficiaries set status = $3 where client_id = $1 and mass_beneficiary_id = $2', [
    clientId,
    id,
    status,
  ]);
  if (patch.errors) {
    await tx.query('delete from mass_beneficiary_errors where client_id = $1 and mass_beneficiary_id = $2', [
      clientId,
      id,
    ]);
    await addMassErrors(tx, { clientId, id }, patch.errors);
  }
  if (patch.add_errors) await addMassErrors(tx, { clientId, id }, patch.add_errors);
  const record = await findMassBeneficiary(tx, id);
  const { errors: _after, ...after } = record;
  // Errors can be replaced by as many others, which the audit row does not show.
  if (patch.errors || patch.add_errors?.length)
    noteChange(tx, act, { entity: 'mass_beneficiary', id, clientId, action: 'update' });
  audit(tx, act, { action: 'update', entity: 'mass_beneficiary', entityId: id, clientId, before, after });
  return record;
}

/** An instruction with its first errors. @throws Problem mass_beneficiary_not_found */
export async function findMassBeneficiary(db: Db, id: string): Promise<MassBeneficiary> {
  if (!isUuid(id)) noInstruction();
  const { rows } = await db.query<MassBeneficiary & { created_at: Date }>(
    `select mass_beneficiary_id, client_id, status, created_at,
       (select count(*) from mass_beneficiary_errors e where e.mass_beneficiary_id = m.mass_beneficiary_id) as error_count
     from mass_beneficiaries m where mass_beneficiary_id = $1`,
    [id],
  );
  if (!rows[0]) noInstruction();
  const { created_at: created, error_count: count, ...rest } = rows[0];
  const errors = await pageOfMassErrors(db, { clientId: rest.client_id, id }, { page: 1, pageSize: MAX_SHOWN_ERRORS });
  return { ...rest, created_date: londonTimestamp(created), error_count: count, errors };
}

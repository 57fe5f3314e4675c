import { randomUUID } from 'node:crypto';
import { audit } from '../audit.ts';
import { londonTimestamp } from '../calendar.ts';
import type { Act } from '../context.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { isUuid } from '../uuid.ts';

export const MASS_BENEFICIARY_STATUSES = ['queued', 'processing', 'created', 'failed'] as const;
export type MassBeneficiaryStatus = (typeof MASS_BENEFICIARY_STATUSES)[number];

/** Moves of an instruction (docs/decisions.md, 3). */
const NEXT: Record<MassBeneficiaryStatus, readonly MassBeneficiaryStatus[]> = {
  queued: ['processing'],
  processing: ['created', 'failed'],
  created: [],
  failed: [],
};

/** Errors in one request; an instruction can have any number, reported one request after the other. */
export const MAX_MASS_ERRORS = 10_000;
/** Errors that the record of an instruction shows; all of them are read by the page. */
const SHOWN_ERRORS = 1_000;

/** A beneficiary that could not be created (the service interface, Mass-beneficiary error record). */
export interface MassBeneficiaryError {
  code: string;
  message: string;
  details: string;
  /** Its place in the instruction. */
  request_index: number;
}

export interface MassBeneficiary {
  mass_beneficiary_id: string;
  client_id: string;
  status: MassBeneficiaryStatus;
  created_date: string;
  error_count: number;
  /** The first of them. */
  errors: MassBeneficiaryError[];
}

/** Records an instruction to create many beneficiaries. @throws Problem already_exists, client_not_found */
export async function createMassBeneficiary(
  tx: Transaction,
  act: Act,
  input: {
    client_id: string;
    mass_beneficiary_id?: string;
    status?: MassBeneficiaryStatus;
    errors?: MassBeneficiaryError[];
  },
): Promise<MassBeneficiary> {
  const { client_id: clientId, mass_beneficiary_id: id = randomUUID(), status = 'queued', errors = [] } = input;
  const made = await tx.query(
    `insert into mass_beneficiaries (mass_beneficiary_id, client_id, status, created_at)
     select $1, client_id, $3, $4 from clients where client_id = $2`,
    [id, clientId, status, act.now],
  );
  if (made.rowCount !== 1) throw new Problem('client_not_found', { field: 'client_id', message: 'is no client' });
  await addErrors(tx, clientId, id, errors);
  const record = await findMassBeneficiary(tx, id);
  const { errors: _errors, ...after } = record;
  await audit(tx, act, { action: 'create', entity: 'mass_beneficiary', entityId: id, clientId, after });
  return record;
}

/**
 * Moves an instruction on, and records errors.
 * @param patch `errors` replaces those reported so far, `add_errors` comes after them. The present status again is no move
 *   while the instruction is under way, so that progress can be reported with it
 * @throws Problem mass_beneficiary_not_found, transition_not_allowed
 */
export async function updateMassBeneficiary(
  tx: Transaction,
  act: Act,
  id: string,
  patch: {
    client_id?: string;
    status?: MassBeneficiaryStatus;
    errors?: MassBeneficiaryError[];
    add_errors?: MassBeneficiaryError[];
  },
): Promise<MassBeneficiary> {
  if (!isUuid(id)) notFound();
  await tx.query('select from mass_beneficiaries where mass_beneficiary_id = $1 for no key update', [id]);
  const { errors: _before, ...before } = await findMassBeneficiary(tx, id);
  const { client_id: clientId, status: present } = before;
  if (patch.client_id !== undefined && patch.client_id !== clientId) notFound();
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
    await addErrors(tx, clientId, id, patch.errors);
  }
  if (patch.add_errors) await addErrors(tx, clientId, id, patch.add_errors);
  const record = await findMassBeneficiary(tx, id);
  const { errors: _after, ...after } = record;
  await audit(tx, act, { action: 'update', entity: 'mass_beneficiary', entityId: id, clientId, before, after });
  return record;
}

async function addErrors(tx: Transaction, clientId: string, id: string, errors: MassBeneficiaryError[]): Promise<void> {
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

/** @throws Problem mass_beneficiary_not_found */
async function findMassBeneficiary(db: Db, id: string): Promise<MassBeneficiary> {
  if (!isUuid(id)) notFound();
  const { rows } = await db.query<MassBeneficiary & { created_at: Date }>(
    `select mass_beneficiary_id, client_id, status, created_at,
       (select count(*) from mass_beneficiary_errors e where e.mass_beneficiary_id = m.mass_beneficiary_id) as error_count
     from mass_beneficiaries m where mass_beneficiary_id = $1`,
    [id],
  );
  if (!rows[0]) notFound();
  const { created_at: created, error_count: count, ...rest } = rows[0];
  const errors = await pageOfErrors(db, rest.client_id, id, 1, SHOWN_ERRORS);
  return { ...rest, created_date: londonTimestamp(created), error_count: count, errors };
}

/**
 * A page of an instruction's errors, in the order in which they were reported; what has been reported so far while it is
 * not `created` (the service interface, GET /mass-beneficiaries/{mass_beneficiary_id}/errors).
 * @throws Problem mass_beneficiary_not_found, also for a text that is no uuid and for another client's
 */
export async function listMassBeneficiaryErrors(
  db: Db,
  clientId: string,
  id: string,
  page: number,
  pageSize: number,
): Promise<{ rows: MassBeneficiaryError[]; total: number }> {
  if (!isUuid(id)) notFound();
  const found = await db.query<{ total: number }>(
    `select (select count(*) from mass_beneficiary_errors e where e.client_id = $1 and e.mass_beneficiary_id = $2) as total
     from mass_beneficiaries where client_id = $1 and mass_beneficiary_id = $2`,
    [clientId, id],
  );
  if (!found.rows[0]) notFound();
  return { rows: await pageOfErrors(db, clientId, id, page, pageSize), total: found.rows[0].total };
}

async function pageOfErrors(
  db: Db,
  clientId: string,
  id: string,
  page: number,
  pageSize: number,
): Promise<MassBeneficiaryError[]> {
  const { rows } = await db.query<MassBeneficiaryError>(
    `select code, message, details, request_index from mass_beneficiary_errors
     where client_id = $1 and mass_beneficiary_id = $2 order by position limit $3 offset $4`,
    [clientId, id, pageSize, (page - 1) * pageSize],
  );
  return rows;
}

function notFound(): never {
  throw new Problem('mass_beneficiary_not_found', {
    field: 'mass_beneficiary_id',
    message: 'is no instruction of the client',
  });
}

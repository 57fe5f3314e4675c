import type { Act } from '../../audit/act.ts';
import { noteChange } from '../../audit/change.ts';
import { audit } from '../../audit/record.ts';
import { newId } from '../../database/cells/identifiers.ts';
import { leaveWork, type Transaction } from '../../database/database.ts';
import type { Input, Patch } from '../../database/record.ts';
import { Problem } from '../../values/errors.ts';
import { isUuid } from '../../values/identifiers.ts';
import { notify } from '../../webhooks/notification.ts';
import { clientView, type MASS_BENEFICIARY, type MassBeneficiary, type MassBeneficiaryStatus } from './declaration.ts';
import { addMassErrors, type MassBeneficiaryError, noInstruction } from './errors.ts';
import { findMassBeneficiary } from './reading.ts';

/** The possible changes of an instruction's status (docs/decisions.md, 3). */
const NEXT: Record<MassBeneficiaryStatus, readonly MassBeneficiaryStatus[]> = {
  queued: ['processing'],
  processing: ['created', 'failed'],
  created: [],
  failed: [],
};

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
 * Changes the status of an instruction of the institution, and records errors.
 * @param patch `errors` replaces those reported so far; `add_errors` adds to them. While the instruction is in progress, its current status
 * may be repeated to report progress
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
  if (before.created_by !== null)
    throw new Problem('transition_not_allowed', {
      field: 'mass_beneficiary_id',
      message: 'a client has sent the instruction, and the service works on it',
    });
  const { status = present } = patch;
  const stays = patch.status === undefined || (patch.status === present && NEXT[present].length > 0);
  if (!stays && !NEXT[present].includes(status)) {
    const allowed = NEXT[present].join(', ') || 'none';
    throw new Problem('transition_not_allowed', {
      field: 'status',
      message: `the instruction is ${present} and allows: ${allowed}`,
    });
  }
  await setStatus(tx, before, status);
  if (patch.errors) {
    await tx.query('delete from mass_beneficiary_errors where client_id = $1 and mass_beneficiary_id = $2', [
      clientId,
      id,
    ]);
    await addMassErrors(tx, { clientId, id }, patch.errors);
  }
  if (patch.add_errors) await addMassErrors(tx, { clientId, id }, patch.add_errors);
  const record = await findMassBeneficiary(tx, id);
  // The same number of errors may replace the former ones. The audit row does not show that, so the change is noted here.
  if (patch.errors || patch.add_errors?.length)
    noteChange(tx, act, { entity: 'mass_beneficiary', id, clientId, action: 'update' });
  await tellChange(tx, act, before, record);
  return record;
}

/** Changes the status of a client's instruction, which is locked. */
export async function moveInstruction(
  tx: Transaction,
  act: Act,
  id: string,
  status: MassBeneficiaryStatus,
): Promise<void> {
  const { errors: _before, ...before } = await findMassBeneficiary(tx, id);
  await setStatus(tx, before, status);
  await tellChange(tx, act, before, await findMassBeneficiary(tx, id));
  leaveWork(tx, 'orders');
}

type Named = Omit<MassBeneficiary, 'errors'>;

async function setStatus(tx: Transaction, { client_id, mass_beneficiary_id }: Named, status: MassBeneficiaryStatus) {
  await tx.query('update mass_beneficiaries set status = $3 where client_id = $1 and mass_beneficiary_id = $2', [
    ...[client_id, mass_beneficiary_id, status],
  ]);
}

/** Records a change in the trail, and notifies the client if the status changed. */
async function tellChange(tx: Transaction, act: Act, former: Named, record: MassBeneficiary): Promise<void> {
  const { mass_beneficiary_id: entityId, client_id: clientId } = record;
  const { errors: _errors, ...after } = record;
  audit(tx, act, { action: 'update', entity: 'mass_beneficiary', entityId, clientId, before: former, after });
  if (former.status === record.status) return;
  const body = JSON.stringify({ data: [clientView(record)] });
  await notify(tx, { clientId, type: 'MASS_BENEFICIARY_STATUS_CHANGE', body, now: act.now });
}

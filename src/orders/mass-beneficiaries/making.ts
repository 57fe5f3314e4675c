import { orderBeneficiaries } from '../../beneficiaries/creation.ts';
import type { OrderedFields } from '../../beneficiaries/order.ts';
import { Problem } from '../../values/errors.ts';
import type { Engine, Outcome, StepOf } from '../engine.ts';
import { rightsOf } from '../rights.ts';
import { faultOf, type RowFault } from '../rows.ts';
import type { MassBeneficiaryStatus } from './declaration.ts';
import { addMassErrors } from './errors.ts';
import { reported } from './order.ts';
import { moveInstruction } from './record.ts';

/** Makes the beneficiaries of an instruction in batches, each in a transaction of its own. */

/** Rows that one transaction judges and makes. */
const MADE_ROWS = 250;

/** An instruction of a client, whose row is locked. */
interface Instruction {
  mass_beneficiary_id: string;
  client_id: string;
  created_by: string;
  status: MassBeneficiaryStatus;
  received: number;
  made: number;
}
type Step = StepOf<Instruction>;

/** How clients' instructions are worked on. The institution works on its own instructions itself. */
export const MASS_BENEFICIARIES: Engine<Instruction> = {
  name: 'mass-beneficiary',
  table: 'mass_beneficiaries',
  id: 'mass_beneficiary_id',
  open: "created_by is not null and status in ('queued', 'processing')",
  step: (step) => (step.order.status === 'queued' ? moveTo(step, 'processing') : make(step)),
};

async function moveTo({ tx, act, order }: Step, status: MassBeneficiaryStatus): Promise<Outcome> {
  await moveInstruction(tx, act, order.mass_beneficiary_id, status);
  return 'goes on';
}

interface StoredRow extends Record<string, unknown> {
  request_index: number;
  fields: OrderedFields | null;
  faults: RowFault[] | null;
}

/** Judges the next rows, and makes those without faults. After the last row the instruction ends. */
async function make(step: Step): Promise<Outcome> {
  const { tx, act, order } = step;
  const { client_id: clientId, created_by: contactId } = order;
  const rights = await rightsOf(tx, { clientId, contactId });
  const refusal = refusalOf(rights);
  const { rows } = await tx.query<StoredRow>(
    `select request_index, fields, faults from mass_beneficiary_rows
     where client_id = $1 and mass_beneficiary_id = $2 and not judged order by request_index limit $3`,
    // If the contact has lost its rights, all remaining rows get the same fault, and the instruction ends at once.
    [clientId, order.mass_beneficiary_id, refusal ? order.received : MADE_ROWS],
  );
  if (rows.length === 0) return moveTo(step, order.made > 0 ? 'created' : 'failed');
  const faults = new Map(rows.map((row) => [row, refusal ? [refusal] : (row.faults ?? [])]));
  const valid = rows.filter((row) => faults.get(row)?.length === 0);
  const made = await orderBeneficiaries(
    tx,
    act,
    clientId,
    valid.map(({ fields }) => fields as OrderedFields),
  );
  const ids = new Map<StoredRow, string>();
  for (const [place, row] of valid.entries()) {
    const outcome = made[place];
    if (outcome instanceof Problem) faults.set(row, [faultOf(outcome)]);
    else if (outcome) ids.set(row, outcome.beneficiary_id);
  }
  await addMassErrors(
    tx,
    { clientId, id: order.mass_beneficiary_id },
    rows.flatMap((row) => reported(row.request_index, faults.get(row) ?? [])),
  );
  await writeJudged(step, rows, ids);
  return 'goes on';
}

/** Why the contact who sent an instruction may no longer go on with it; undefined if it may. */
function refusalOf(rights: Awaited<ReturnType<typeof rightsOf>>): RowFault | undefined {
  const refuse = (code: RowFault['code'], message: string) => ({ field: '', code, message });
  if (!rights.client_enabled) return refuse('client_disabled', 'the client was disabled meanwhile');
  if (!rights.contact_enabled) return refuse('permission_denied', 'its maker was disabled meanwhile');
  if (!rights.can_manage_beneficiaries)
    return refuse('permission_denied', 'its maker needs can_manage_beneficiaries to make a payee');
  return undefined;
}

/** Stores the result of judged rows: their faults, or the beneficiary that each has become. */
async function writeJudged(
  { tx, order }: Step,
  rows: readonly StoredRow[],
  ids: ReadonlyMap<StoredRow, string>,
): Promise<void> {
  await tx.query(
    `update mass_beneficiary_rows r set judged = true, fields = null, faults = null, beneficiary_id = u.beneficiary_id
     from unnest($3::int[], $4::text[]) as u(request_index, beneficiary_id)
     where r.client_id = $1 and r.mass_beneficiary_id = $2 and r.request_index = any($3) and r.request_index = u.request_index`,
    [
      ...[order.client_id, order.mass_beneficiary_id, rows.map(({ request_index: index }) => index)],
      rows.map((row) => ids.get(row) ?? null),
    ],
  );
  await tx.query(
    'update mass_beneficiaries set made = made + $3, errored = errored + $4 where client_id = $1 and mass_beneficiary_id = $2',
    [order.client_id, order.mass_beneficiary_id, ids.size, rows.length - ids.size],
  );
}

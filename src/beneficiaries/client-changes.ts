import type { Act } from '../audit/act.ts';
import { noteRecord } from '../audit/change.ts';
import { type Transaction, together } from '../database/database.ts';
import { updateRow } from '../database/rows.ts';
import { type BodyFault, Problem } from '../values/errors.ts';
import { keysOf } from './account-key.ts';
import type { BankTable } from './bank-table.ts';
import { noBeneficiary, noteChangedBeneficiary } from './beneficiary.ts';
import { notifyChangedBeneficiary } from './client-view.ts';
import { BENEFICIARY, type Beneficiary } from './declaration.ts';
import { isBlocked, judgePayees } from './judgement.ts';
import { currencyRefusal, meaningOf, type OrderedBody, readChange } from './order.ts';

/** A beneficiary of a client, with the contact who acts on it. */
export interface Named {
  clientId: string;
  id: string;
}

/** A change that a contact orders. */
export interface OrderedChange extends Named {
  table: BankTable;
  body: OrderedBody;
  /** Refuses the body with the faults that the schema and the rules found. @throws Problem invalid_body if there are any */
  refuse: (faults: readonly BodyFault[]) => void;
}

/**
 * Changes a beneficiary on the order of a contact of its client. A given value that equals the stored one does not count as a change.
 * @returns the beneficiary after the change
 * @throws Problem invalid_body, beneficiary_not_found, currency_not_allowed, beneficiary_blocked, beneficiary_in_use, beneficiary_duplicate
 */
export async function reorderBeneficiary(
  tx: Transaction,
  act: Act,
  { table, body, refuse, ...named }: OrderedChange,
): Promise<Beneficiary> {
  const { before, used } = await lockBeneficiary(tx, named);
  const { fields, changed, faults } = readChange(table, body, before);
  refuse(faults);
  if (!before) throw noBeneficiary();
  if (changed.length === 0) return before;
  const { bound, unverifies, redirects, renames } = meaningOf(changed);
  const keys = keysOf(fields);
  const others = renames
    ? (await judgePayees(tx, named.clientId, [{ ...keys, currency: fields.currency, self: named.id }])).get(0)
    : undefined;
  throwFirst(
    changed.includes('currency') ? currencyRefusal(fields.currency) : undefined,
    before.beneficiary_blocked || (redirects && others?.blocked) ? isBlocked() : undefined,
    bound && used ? inUse() : undefined,
    others?.duplicate,
  );
  return writeChange(tx, act, before, { ...fields, ...(unverifies && { beneficiary_verified: false }) });
}

/**
 * Deletes a beneficiary on the order of a contact of its client. Clients no longer see it.
 * @throws Problem beneficiary_not_found, beneficiary_blocked, beneficiary_in_use
 */
export async function deleteBeneficiary(tx: Transaction, act: Act, named: Named): Promise<void> {
  const { before, used } = await lockBeneficiary(tx, named);
  if (!before) throw noBeneficiary();
  throwFirst(before.beneficiary_blocked ? isBlocked() : undefined, used ? inUse() : undefined);
  await writeChange(tx, act, before, { beneficiary_active: false });
}

/** @throws Problem the first that is defined */
function throwFirst(...problems: (Problem | undefined)[]): void {
  const problem = problems.find((each) => each !== undefined);
  if (problem) throw problem;
}

function inUse(): Problem {
  return new Problem('beneficiary_in_use', 'a payment to the beneficiary is not final');
}

/** Whether a beneficiary is in use: a payment to it, or a file with a row for it, is not final. */
const USED = `select exists (select from payments where client_id = $1 and beneficiary_id = $2 and phase in (1, 2))
  or exists (select from mass_payment_rows r join mass_payments m on m.client_id = r.client_id and m.mass_payment_id = r.mass_payment_id
    where r.client_id = $1 and r.beneficiary_id = $2 and r.status = 'valid' and m.client_id = $1
      and m.status not in ('Created', 'Cancelled', 'Failed')) as used`;

/** Locks a beneficiary that its client sees, and checks whether it is in use. A payment that is being created waits until the change ends. */
async function lockBeneficiary(
  tx: Transaction,
  { clientId, id }: Named,
): Promise<{ before: Beneficiary | undefined; used: boolean }> {
  const [{ rows: found }, { rows: use }] = await together([
    tx.query<Beneficiary>(
      `select ${BENEFICIARY.select} from beneficiaries where client_id = $1 and beneficiary_id = $2 and active for update`,
      [clientId, id],
    ),
    tx.query<{ used: boolean }>({ name: 'beneficiary-used', text: USED, values: [clientId, id] }),
  ]);
  return { before: found[0], used: use[0]?.used === true };
}

/** Writes a change of a locked beneficiary. The caller need not wait, because the resulting record is known. */
async function writeChange(
  tx: Transaction,
  act: Act,
  before: Beneficiary,
  change: Partial<Beneficiary>,
): Promise<Beneficiary> {
  const { client_id, beneficiary_id } = before;
  const after = BENEFICIARY.show(BENEFICIARY.names, { ...before, ...change });
  const values = { ...BENEFICIARY.changes(change), ...keysOf(after) };
  tx.meanwhile(
    updateRow(tx, BENEFICIARY.table, { key: { client_id, beneficiary_id }, values, returning: 'beneficiary_id' }),
  );
  await noteChangedBeneficiary(tx, act, before, after);
  noteRecord(tx, 'beneficiary', beneficiary_id, () => ({ text: JSON.stringify(after) }));
  await notifyChangedBeneficiary(tx, act.now, before, after);
  return after;
}

import type { Act } from '../audit/act.ts';
import { noteRecord } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { newIds } from '../database/cells/identifiers.ts';
import { type Transaction, together } from '../database/database.ts';
import { insertRow } from '../database/rows.ts';
import { londonDay } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { keysOf } from './account-key.ts';
import { notifyBeneficiary } from './client-view.ts';
import { BENEFICIARY, type Beneficiary } from './declaration.ts';
import { isDuplicate, judgePayees } from './judgement.ts';
import { currencyRefusal, type OrderedFields } from './order.ts';

/** What a beneficiary of a client begins with: complete, and not yet looked at. */
const BEGINNING = {
  beneficiary_aml_id: null,
  beneficiary_active: true,
  beneficiary_authorised: true,
  beneficiary_blocked: false,
  beneficiary_completed: true,
  beneficiary_verified: false,
  source: 'client',
} as const;

/**
 * Creates a beneficiary that a contact of its client orders.
 * @param fields without faults
 * @throws Problem currency_not_allowed, beneficiary_blocked, beneficiary_duplicate
 */
export async function orderBeneficiary(
  tx: Transaction,
  act: Act,
  clientId: string,
  fields: OrderedFields,
): Promise<Beneficiary> {
  const [made] = await orderBeneficiaries(tx, act, clientId, [fields]);
  if (made instanceof Problem) throw made;
  return made as Beneficiary;
}

/**
 * Creates beneficiaries that a contact of their client orders, in their order, each that is not refused.
 * @param all without faults
 * @returns each, or why it is refused: currency_not_allowed, beneficiary_blocked, beneficiary_duplicate
 */
export async function orderBeneficiaries(
  tx: Transaction,
  act: Act,
  clientId: string,
  all: readonly OrderedFields[],
): Promise<(Beneficiary | Problem)[]> {
  const records = all.map((): { id: string | undefined; input: { client_id: string } } => ({
    ...{ id: undefined, input: { client_id: clientId } },
  }));
  const wanted = records.filter((_, index) => !currencyRefusal(all[index]?.currency ?? null));
  const [refused] = await together([
    refusals(tx, clientId, all, { nameOf: (index) => `the beneficiary ${records[index]?.id}` }),
    newIds(tx, 'beneficiary_id', wanted, false),
  ]);
  return together(
    all.map((fields, index) => {
      const { id } = records[index] as { id: string };
      return refused.get(index)?.() ?? writeBeneficiary(tx, act, { clientId, id, fields });
    }),
  );
}

/**
 * Looks at beneficiaries that could be ordered, and keeps nothing.
 * @param all without faults. @param nameOf what a refusal calls an equal one before it
 * @returns why some are refused, by their index
 */
export async function tryBeneficiaries(
  tx: Transaction,
  clientId: string,
  all: readonly OrderedFields[],
  nameOf: (index: number) => string,
): Promise<Map<number, Problem>> {
  const refused = await refusals(tx, clientId, all, { nameOf, waits: false });
  return new Map([...refused].map(([index, problem]) => [index, problem()]));
}

/** Why beneficiaries are refused, by their index; said once all identifiers are known. Of equal ones the first is taken. */
async function refusals(
  tx: Transaction,
  clientId: string,
  all: readonly OrderedFields[],
  { nameOf, waits = true }: { nameOf: (index: number) => string; waits?: boolean },
): Promise<Map<number, () => Problem>> {
  const judged = all.map((fields) => ({ ...keysOf(fields), currency: fields.currency, self: null }));
  const known = await judgePayees(tx, clientId, judged, { waits });
  const taken = new Map<string, number>();
  const refused = new Map<number, () => Problem>();
  for (const [index, payee] of judged.entries()) {
    const { name_key, paid_account, paid_bank, paid_bic, currency } = payee;
    const same = JSON.stringify([name_key, paid_account, paid_bank, paid_bic, currency]);
    const twin = taken.get(same);
    const found = known.get(index);
    const problem = currencyRefusal(currency) ?? found?.blocked ?? found?.duplicate;
    if (problem) refused.set(index, () => problem);
    else if (twin !== undefined) refused.set(index, () => isDuplicate(nameOf(twin)));
    else taken.set(same, index);
  }
  return refused;
}

/** Writes a beneficiary that a contact of its client orders, once it was judged and has an identifier. */
export async function writeBeneficiary(
  tx: Transaction,
  act: Act,
  { clientId, id, fields }: { clientId: string; id: string; fields: OrderedFields },
): Promise<Beneficiary> {
  const keys = keysOf(fields);
  const record: Omit<Beneficiary, 'account_id'> = {
    ...BEGINNING,
    ...fields,
    client_id: clientId,
    beneficiary_id: id,
    created: londonDay(act.now),
  };
  const stored = { ...BENEFICIARY.stored(record), ...keys, source: record.source, created_at: act.now };
  const { account_id } = await insertRow<{ account_id: number }>(tx, BENEFICIARY.table, stored, {
    returning: 'account_id',
  });
  const after = BENEFICIARY.show(BENEFICIARY.names, { ...record, account_id });
  audit(tx, act, { action: 'create', entity: 'beneficiary', entityId: id, clientId, after });
  noteRecord(tx, 'beneficiary', id, () => ({ text: JSON.stringify(after) }));
  await notifyBeneficiary(tx, act.now, after);
  return after;
}

import type { Act } from '../audit/act.ts';
import { noteRecord } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { newIds } from '../database/cells/identifiers.ts';
import { type CopyValue, insertRows } from '../database/copy.ts';
import { type Transaction, together } from '../database/database.ts';
import { londonDay } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { present } from '../values/unknown.ts';
import { keysOf } from './account-key.ts';
import { notifyBeneficiaries } from './client-view.ts';
import { BENEFICIARY, type Beneficiary } from './declaration.ts';
import { isDuplicate, judgePayees } from './judgement.ts';
import { currencyRefusal, type OrderedFields } from './order.ts';

/** The initial state of a client's beneficiary: complete, and not yet reviewed. */
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
 * Creates a beneficiary on the order of a contact of its client.
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
 * Creates beneficiaries on the order of a contact of their client, in order, except those that are refused.
 * @param all without faults
 * @returns for each the beneficiary, or why it is refused: currency_not_allowed, beneficiary_blocked, beneficiary_duplicate
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
  const taken = [...all.entries()].filter(([index]) => !refused.has(index));
  const identified = taken.map(([index, fields]) => ({ id: present(records[index]?.id), fields }));
  const written = await writeBeneficiaries(tx, act, clientId, identified);
  const made = new Map(taken.map(([index], place) => [index, written[place] as Beneficiary]));
  return all.map((_, index) => made.get(index) ?? present(refused.get(index))());
}

/**
 * Checks whether beneficiaries could be created, and stores nothing.
 * @param all without faults
 * @param nameOf what a refusal calls an equal one earlier in the list
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

/** Why beneficiaries are refused, by their index. Of equal ones the first is accepted. The message is made once all identifiers are known. */
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

/** A beneficiary that was judged, with its identifier. */
interface Identified {
  id: string;
  fields: OrderedFields;
}

type Row = Record<string, CopyValue>;
type Made = Pick<Beneficiary, 'beneficiary_id' | 'account_id'>;

/** Writes beneficiaries that a contact of their client ordered, after they were judged and have identifiers. @returns them, in order */
export async function writeBeneficiaries(
  tx: Transaction,
  act: Act,
  clientId: string,
  all: readonly Identified[],
): Promise<Beneficiary[]> {
  const of = { ...BEGINNING, client_id: clientId, created: londonDay(act.now) };
  const records = all.map(
    ({ id, fields }): Omit<Beneficiary, 'account_id'> => ({ ...of, ...fields, beneficiary_id: id }),
  );
  const rows = records.map((record, index) => ({
    ...BENEFICIARY.stored(record),
    ...keysOf(present(all[index]).fields),
    ...{ source: record.source, created_at: act.now },
  }));
  const columns = Object.fromEntries(Object.keys(rows[0] ?? {}).map((name) => [name, (row: Row) => row[name]]));
  const returning = 'beneficiary_id, account_id';
  const numbers = await insertRows<Row, Made>(tx, BENEFICIARY.table, columns, rows, returning);
  const accounts = new Map(numbers.map(({ beneficiary_id: id, account_id: account }) => [id, account]));
  const made = records.map((record) => {
    const accountId = present(accounts.get(record.beneficiary_id));
    return BENEFICIARY.show(BENEFICIARY.names, { ...record, account_id: accountId });
  });
  audit(
    tx,
    act,
    ...made.map((after) => ({
      ...{ action: 'create' as const, entity: 'beneficiary', entityId: after.beneficiary_id, clientId, after },
    })),
  );
  for (const after of made)
    noteRecord(tx, 'beneficiary', after.beneficiary_id, () => ({ text: JSON.stringify(after) }));
  await notifyBeneficiaries(tx, act.now, made);
  return made;
}

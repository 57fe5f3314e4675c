import { type Db, first } from '../database/database.ts';
import { type Filter, type List, type ListRequest, listRows } from '../database/rows.ts';
import { nameKey } from './account-key.ts';
import { electronic } from './bank-account.ts';
import { noBeneficiary } from './beneficiary.ts';
import { type ClientBeneficiary, clientView } from './client-view.ts';
import { BENEFICIARY, type Beneficiary } from './declaration.ts';

/** The filters for beneficiaries. An empty text counts as left out. */
export interface BeneficiaryFilters {
  /** The whole name, without case. */
  name?: string | undefined;
  account_number?: string | undefined;
  iban?: string | undefined;
  bank_identifier?: string | undefined;
}

/** A page of the beneficiaries that a client sees, in order of insertion. */
export async function searchBeneficiaries(
  db: Db,
  { name, account_number: number, iban, bank_identifier: bank }: BeneficiaryFilters,
  request: ListRequest & { clientId: string },
): Promise<List<ClientBeneficiary>> {
  const electronically = (text: string | undefined) => (text === undefined ? undefined : electronic(text) || undefined);
  const filters: Filter[] = [
    // Written as in the indexes, because a generic plan does not know the value.
    ['active and ?', true],
    ['name_key = ?', name === undefined ? undefined : nameKey(name) || undefined],
    ['account_number = ?', electronically(number)],
    ['iban = ?', electronically(iban)],
    ['bank_identifier = ?', electronically(bank)],
  ];
  const list = { select: BENEFICIARY.select, from: BENEFICIARY.table, client: 'client_id', order: 'account_id' };
  const { rows, total } = await listRows<Beneficiary>(db, { ...list, filters }, request);
  return { rows: rows.map(clientView), total };
}

/** A page of the beneficiaries whose names contain a text. Those whose names begin with it come first. */
export async function beneficiariesWith(
  db: Db,
  text: string,
  { page, pageSize, clientId }: ListRequest & { clientId: string },
): Promise<List<ClientBeneficiary>> {
  const from = 'from beneficiaries where client_id = $1 and active and strpos(name_key, $2) > 0';
  const wanted = [clientId, nameKey(text)];
  const { rows } = await db.query<Beneficiary>(
    `select ${BENEFICIARY.select} ${from} order by strpos(name_key, $2), name_key, account_id limit $3 offset $4`,
    [...wanted, pageSize, (page - 1) * pageSize],
  );
  const counted = first(await db.query<{ total: number }>(`select count(*)::int as total ${from}`, wanted));
  return { rows: rows.map(clientView), total: counted?.total };
}

/** A beneficiary that a client sees. @throws Problem beneficiary_not_found */
export async function findClientBeneficiary(db: Db, clientId: string, id: string): Promise<ClientBeneficiary> {
  const found = first(
    await db.query<Beneficiary>(
      `select ${BENEFICIARY.select} from beneficiaries where client_id = $1 and beneficiary_id = $2 and active`,
      [clientId, id],
    ),
  );
  if (!found) throw noBeneficiary();
  return clientView(found);
}

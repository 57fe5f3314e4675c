import { electronicFormatIBAN, isValidBIC, isValidIBAN } from 'ibantools';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { insertRow, type List, type ListRequest, listRows, updateRow } from '../database/rows.ts';
import { requireClient } from '../identity/people/tenant.ts';
import { Problem } from '../values/errors.ts';
import { PAYEE_COLUMNS } from './payee.ts';

/** The party that a payment pays. The names of its fields are those of a Payment. */
export interface Beneficiary {
  beneficiary_id: string;
  client_id: string;
  beneficiary_name: string;
  beneficiary_aml_id: string | null;
  account_number: string | null;
  iban: string | null;
  swift_code: string | null;
  bank_identifier: string | null;
  currency: string | null;
  beneficiary_active: boolean;
  beneficiary_authorised: boolean;
  beneficiary_blocked: boolean;
  beneficiary_completed: boolean;
  beneficiary_verified: boolean;
}

export type BeneficiaryInput = Partial<Beneficiary> & { client_id: string; beneficiary_name: string };

const COLUMNS = `beneficiary_id, client_id, beneficiary_name, beneficiary_aml_id, account_number, iban, swift_code,
  bank_identifier, currency, active as beneficiary_active, authorised as beneficiary_authorised, blocked as beneficiary_blocked,
  completed as beneficiary_completed, verified as beneficiary_verified`;

/**
 * Checks IBAN (length of its country, mod 97; ISO 13616) and BIC (ISO 9362), and converts the IBAN to its electronic form.
 * @throws Problem invalid_body
 */
export function checkedBank(input: Partial<Beneficiary>): {
  iban: string | null | undefined;
  swift_code: string | null | undefined;
} {
  const iban = typeof input.iban === 'string' ? (electronicFormatIBAN(input.iban) ?? '') : input.iban;
  if (iban != null && !isValidIBAN(iban))
    throw new Problem('invalid_body', {
      field: 'iban',
      message: 'must be an IBAN with the length of its country and correct check digits',
    });
  const swift = typeof input.swift_code === 'string' ? input.swift_code.toUpperCase() : input.swift_code;
  if (swift != null && !isValidBIC(swift))
    throw new Problem('invalid_body', { field: 'swift_code', message: 'must be a BIC of 8 or 11 characters' });
  return { iban, swift_code: swift };
}

/** @throws Problem already_exists, client_not_found, invalid_body */
export async function createBeneficiary(tx: Transaction, act: Act, input: BeneficiaryInput): Promise<Beneficiary> {
  await requireClient(tx, input.client_id);
  const bank = checkedBank(input);
  const id = await newId(tx, input.client_id, 'beneficiary_id', input.beneficiary_id);
  const row = {
    beneficiary_id: id,
    client_id: input.client_id,
    beneficiary_name: input.beneficiary_name,
    beneficiary_aml_id: input.beneficiary_aml_id ?? null,
    account_number: input.account_number ?? null,
    iban: bank.iban ?? null,
    swift_code: bank.swift_code ?? null,
    bank_identifier: input.bank_identifier ?? null,
    currency: input.currency ?? null,
    active: input.beneficiary_active ?? true,
    authorised: input.beneficiary_authorised ?? true,
    blocked: input.beneficiary_blocked ?? false,
    completed: input.beneficiary_completed ?? true,
    verified: input.beneficiary_verified ?? true,
    created_at: act.now,
  };
  const beneficiary = await insertRow<Beneficiary>(tx, 'beneficiaries', row, { returning: COLUMNS });
  await audit(tx, act, {
    action: 'create',
    entity: 'beneficiary',
    entityId: id,
    clientId: input.client_id,
    after: beneficiary,
  });
  return beneficiary;
}

/** @throws Problem beneficiary_not_found, invalid_body */
export async function updateBeneficiary(
  tx: Transaction,
  act: Act,
  id: string,
  patch: Partial<Beneficiary>,
): Promise<Beneficiary> {
  const before = await findBeneficiary(tx, id);
  const bank = checkedBank(patch);
  const after = await updateRow<Beneficiary>(tx, 'beneficiaries', {
    key: { client_id: before.client_id, beneficiary_id: id },
    values: {
      beneficiary_name: patch.beneficiary_name,
      beneficiary_aml_id: patch.beneficiary_aml_id,
      account_number: patch.account_number,
      iban: bank.iban,
      swift_code: bank.swift_code,
      bank_identifier: patch.bank_identifier,
      currency: patch.currency,
      active: patch.beneficiary_active,
      authorised: patch.beneficiary_authorised,
      blocked: patch.beneficiary_blocked,
      completed: patch.beneficiary_completed,
      verified: patch.beneficiary_verified,
    },
    returning: COLUMNS,
  });
  await audit(tx, act, {
    action: 'update',
    entity: 'beneficiary',
    entityId: id,
    clientId: before.client_id,
    before,
    after,
  });
  await noteChangedPayee(tx, act, before, after ?? before);
  return after ?? before;
}

/** Notes that the name or the account was changed: payments that are made soon after are marked (marks.ts). */
async function noteChangedPayee(tx: Transaction, act: Act, before: Beneficiary, after: Beneficiary): Promise<void> {
  const fields = PAYEE_COLUMNS.filter((name) => before[name] !== after[name]);
  if (fields.length === 0) return;
  await tx.query('insert into beneficiary_changes (client_id, beneficiary_id, at, fields) values ($1, $2, $3, $4)', [
    before.client_id,
    before.beneficiary_id,
    act.now,
    fields,
  ]);
}

/** @throws Problem beneficiary_not_found */
export async function findBeneficiary(db: Db, id: string): Promise<Beneficiary> {
  const found = first(
    await db.query<Beneficiary>(`select ${COLUMNS} from beneficiaries where beneficiary_id = $1`, [id]),
  );
  if (!found) throw new Problem('beneficiary_not_found', { field: 'beneficiary_id', message: 'does not exist' });
  return found;
}

/** A page of beneficiaries in the order of their identifiers. */
export function listBeneficiaries(db: Db, request: ListRequest): Promise<List<Beneficiary>> {
  const list = { select: COLUMNS, from: 'beneficiaries', client: 'client_id', order: 'beneficiary_id' };
  return listRows<Beneficiary>(db, list, request);
}

/** Beneficiaries as the operator reads them, for the change feed. */
export async function readBeneficiaries(db: Db, ids: readonly string[]): Promise<Beneficiary[]> {
  return (await db.query<Beneficiary>(`select ${COLUMNS} from beneficiaries where beneficiary_id = any($1)`, [ids]))
    .rows;
}

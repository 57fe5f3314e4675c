import { electronicFormatIBAN, isValidBIC, isValidIBAN } from 'ibantools';
import { audit } from '../audit.ts';
import type { Act } from '../context.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { nextId, updateRow } from '../rows.ts';
import { requireClient } from '../tenant.ts';

/** Who is paid. Field names are those that a payment shows. */
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

const BENEFICIARY_COLUMNS = `beneficiary_id, client_id, beneficiary_name, beneficiary_aml_id, account_number, iban, swift_code,
  bank_identifier, currency, active as beneficiary_active, authorised as beneficiary_authorised, blocked as beneficiary_blocked,
  completed as beneficiary_completed, verified as beneficiary_verified`;

/**
 * Checks IBAN (length of its country, mod 97; ISO 13616) and BIC (ISO 9362), and brings the IBAN to its electronic form.
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
      message: 'must be an IBAN with the length of its country and right check digits',
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
  const id = input.beneficiary_id ?? (await nextId(tx, 'beneficiary_numbers', 'BEN'));
  const { rows } = await tx.query<Beneficiary>(
    `insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, beneficiary_aml_id, account_number, iban, swift_code, bank_identifier,
       currency, active, authorised, blocked, completed, verified, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) returning ${BENEFICIARY_COLUMNS}`,
    [
      id,
      input.client_id,
      input.beneficiary_name,
      input.beneficiary_aml_id ?? null,
      input.account_number ?? null,
      bank.iban ?? null,
      bank.swift_code ?? null,
      input.bank_identifier ?? null,
      input.currency ?? null,
      input.beneficiary_active ?? true,
      input.beneficiary_authorised ?? true,
      input.beneficiary_blocked ?? false,
      input.beneficiary_completed ?? true,
      input.beneficiary_verified ?? true,
      act.now,
    ],
  );
  const beneficiary = rows[0] as Beneficiary;
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
  const after = await updateRow<Beneficiary>(
    tx,
    'beneficiaries',
    { client_id: before.client_id, beneficiary_id: id },
    {
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
    BENEFICIARY_COLUMNS,
  );
  await audit(tx, act, {
    action: 'update',
    entity: 'beneficiary',
    entityId: id,
    clientId: before.client_id,
    before,
    after,
  });
  return after ?? before;
}

/** @throws Problem beneficiary_not_found */
export async function findBeneficiary(db: Db, id: string): Promise<Beneficiary> {
  const { rows } = await db.query<Beneficiary>(
    `select ${BENEFICIARY_COLUMNS} from beneficiaries where beneficiary_id = $1`,
    [id],
  );
  if (!rows[0]) throw new Problem('beneficiary_not_found', { field: 'beneficiary_id', message: 'is no beneficiary' });
  return rows[0];
}

/** A page of a client's beneficiaries, or of everybody's for the operator. */
export async function listBeneficiaries(
  db: Db,
  page: number,
  pageSize: number,
  clientId?: string,
): Promise<{ rows: Beneficiary[]; total: number }> {
  const where = clientId === undefined ? '' : 'where client_id = $3';
  const values = clientId === undefined ? [] : [clientId];
  const { rows } = await db.query<Beneficiary>(
    `select ${BENEFICIARY_COLUMNS} from beneficiaries ${where} order by beneficiary_id limit $1 offset $2`,
    [pageSize, (page - 1) * pageSize, ...values],
  );
  const total = await db.query<{ total: number }>(
    `select count(*) as total from beneficiaries ${where.replace('$3', '$1')}`,
    values,
  );
  return { rows, total: total.rows[0]?.total ?? 0 };
}

import { electronicFormatIBAN, isValidBIC, isValidIBAN } from 'ibantools';
import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import {
  chosen,
  type Input,
  initially,
  optional,
  type Patch,
  RecordKind,
  required,
  type Shown,
} from '../database/record.ts';
import { insertRow, type List, type ListRequest, listRows, updateRow } from '../database/rows.ts';
import { requireClient } from '../identity/people/tenant.ts';
import { Problem } from '../values/errors.ts';
import { ClientId, Currency, Id, Name, Text } from '../values/schemas.ts';
import { PAYEE_COLUMNS } from './payee.ts';

const flag = Type.Boolean();

/** The party that a payment pays. The names of its fields are those of a Payment. */
export const BENEFICIARY = new RecordKind({
  table: 'beneficiaries',
  id: 'beneficiary_id',
  fields: {
    beneficiary_id: chosen(Id('Chosen by the core; default: a new one'), { example: 'BEN000001' }),
    client_id: required(ClientId, { fixed: true, shown: ClientId, example: 'CLI000001' }),
    beneficiary_name: required(Name('Name'), { example: 'Müller GmbH' }),
    beneficiary_aml_id: optional(Text('Formatted identifier', 64), { example: null }),
    account_number: optional(Text('Destination account number', 64), { example: null }),
    iban: optional(Text('IBAN; its length and check digits are checked', 64), {
      normal: electronicIban,
      example: 'DE89370400440532013000',
    }),
    swift_code: optional(Text('BIC; checked', 32), { normal: electronicBic, example: 'COBADEFFXXX' }),
    bank_identifier: optional(Text('Bank identifier, as a sort code', 64), { example: null }),
    currency: optional(Currency(), { example: 'EUR' }),
    beneficiary_active: initially(flag, true, { column: 'active', example: true }),
    beneficiary_authorised: initially(flag, true, { column: 'authorised', example: true }),
    beneficiary_blocked: initially(flag, false, { column: 'blocked', example: false }),
    beneficiary_completed: initially(flag, true, { column: 'completed', example: true }),
    beneficiary_verified: initially(flag, true, { column: 'verified', example: true }),
  },
});
export type Beneficiary = Shown<typeof BENEFICIARY>;
export type BeneficiaryInput = Input<typeof BENEFICIARY>;

/**
 * An IBAN in its electronic form, with the length of its country and the right check digits (ISO 13616, mod 97).
 * @throws Problem invalid_body
 */
function electronicIban(text: string): string {
  const iban = electronicFormatIBAN(text) ?? '';
  if (isValidIBAN(iban)) return iban;
  throw new Problem('invalid_body', {
    field: 'iban',
    message: 'must be an IBAN with the length of its country and correct check digits',
  });
}

/** A BIC in capitals (ISO 9362). @throws Problem invalid_body */
function electronicBic(text: string): string {
  const bic = text.toUpperCase();
  if (isValidBIC(bic)) return bic;
  throw new Problem('invalid_body', { field: 'swift_code', message: 'must be a BIC of 8 or 11 characters' });
}

/** @throws Problem already_exists, client_not_found, invalid_body */
export async function createBeneficiary(tx: Transaction, act: Act, input: BeneficiaryInput): Promise<Beneficiary> {
  await requireClient(tx, input.client_id);
  const stored = BENEFICIARY.stored(input);
  const id = await newId(tx, input.client_id, 'beneficiary_id', input.beneficiary_id);
  const row = { ...stored, beneficiary_id: id, created_at: act.now };
  const beneficiary = await insertRow<Beneficiary>(tx, BENEFICIARY.table, row, { returning: BENEFICIARY.select });
  audit(tx, act, {
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
  patch: Patch<typeof BENEFICIARY>,
): Promise<Beneficiary> {
  const before = await findBeneficiary(tx, id);
  const after = await updateRow<Beneficiary>(tx, BENEFICIARY.table, {
    key: { client_id: before.client_id, beneficiary_id: id },
    values: BENEFICIARY.changes(patch),
    returning: BENEFICIARY.select,
  });
  audit(tx, act, {
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
    await db.query<Beneficiary>(`select ${BENEFICIARY.select} from beneficiaries where beneficiary_id = $1`, [id]),
  );
  if (!found) throw new Problem('beneficiary_not_found', { field: 'beneficiary_id', message: 'does not exist' });
  return found;
}

/** A page of beneficiaries in the order of their identifiers. */
export function listBeneficiaries(db: Db, request: ListRequest): Promise<List<Beneficiary>> {
  const list = { select: BENEFICIARY.select, from: BENEFICIARY.table, client: 'client_id', order: 'beneficiary_id' };
  return listRows<Beneficiary>(db, list, request);
}

/** Beneficiaries as the operator reads them, for the change feed. */
export async function readBeneficiaries(db: Db, ids: readonly string[]): Promise<Beneficiary[]> {
  return (
    await db.query<Beneficiary>(`select ${BENEFICIARY.select} from beneficiaries where beneficiary_id = any($1)`, [ids])
  ).rows;
}

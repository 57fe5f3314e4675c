import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import { overCells, unionOfCells } from '../database/cells/union.ts';
import { type Db, first, type Transaction, together } from '../database/database.ts';
import { insertRow, type List, type ListRequest, listRows, updateRow } from '../database/rows.ts';
import { requireClient } from '../identity/people/tenant.ts';
import { Problem } from '../values/errors.ts';
import { nameKey } from './account-key.ts';
import { electronic } from './bank-account.ts';
import { notifyChangedBeneficiary } from './client-view.ts';
import {
  BENEFICIARY,
  type Beneficiary,
  type BeneficiaryInput,
  type BeneficiaryPatch,
  completed,
  completedChange,
  type Source,
} from './declaration.ts';
import { PAYEE_COLUMNS } from './payee.ts';

/** Creates a beneficiary of the institution. @throws Problem already_exists, client_not_found, invalid_body */
export async function createBeneficiary(tx: Transaction, act: Act, input: BeneficiaryInput): Promise<Beneficiary> {
  await requireClient(tx, input.client_id);
  const stored = completed(BENEFICIARY.stored(input));
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

/**
 * Changes a beneficiary on behalf of the institution.
 * @param patch a change that frees a client's beneficiary needs the version that was seen, so that nobody verifies what they have not seen
 * @param options `silent`: nobody is notified
 * @throws Problem beneficiary_not_found, version_mismatch, invalid_body
 */
export async function updateBeneficiary(
  tx: Transaction,
  act: Act,
  id: string,
  { version, ...patch }: BeneficiaryPatch,
  { silent = false }: { silent?: boolean } = {},
): Promise<Beneficiary> {
  // Whoever changes the beneficiary locks it until the change is in the feed. So the version is read after the lock.
  const [locked, { rows: versions }] = await together([
    tx.query('select from beneficiaries where beneficiary_id = $1 for no key update', [id]),
    tx.query<Versioned>(`select ${VERSIONED} from beneficiaries where beneficiary_id = $1`, [id]),
  ]);
  const [found] = versions;
  if (locked.rowCount === 0 || !found) throw noBeneficiary();
  const { version: present, ...before } = found;
  checkVersion(before.source, patch, { version, present });
  const after = await updateRow<Beneficiary>(tx, BENEFICIARY.table, {
    key: { client_id: before.client_id, beneficiary_id: id },
    values: completedChange(before, BENEFICIARY.changes(patch)),
    returning: BENEFICIARY.select,
  });
  if (after) await noteChangedBeneficiary(tx, act, before, after);
  if (after && !silent) await notifyChangedBeneficiary(tx, act.now, before, after);
  return after ?? before;
}

/** Changes that free a beneficiary. Whoever sends one must have looked at the record. */
const FREEING: Readonly<Record<string, boolean>> = {
  ...{ beneficiary_verified: true, beneficiary_completed: true, beneficiary_authorised: true },
  ...{ beneficiary_active: true, beneficiary_blocked: false },
};

/** @throws Problem invalid_body, version_mismatch */
function checkVersion(
  source: Source,
  patch: object,
  { version, present }: { version: number | undefined; present: number },
): void {
  const frees = Object.entries(patch).find(([name, value]) => FREEING[name] === value);
  if (version === undefined && frees && source === 'client')
    throw new Problem('invalid_body', {
      field: 'version',
      message: `is required with ${frees[0]} ${frees[1]}: a client made the record; read it, and send the version of its ETag`,
    });
  if (version !== undefined && version !== present)
    throw new Problem('version_mismatch', { field: 'version', message: `the record has version ${present} by now` });
}

/** Writes the audit row of a change. It also records a changed payee, so that payments made soon after are marked (marks.ts). */
export async function noteChangedBeneficiary(
  tx: Transaction,
  act: Act,
  before: Beneficiary,
  after: Beneficiary,
): Promise<void> {
  const { client_id: clientId, beneficiary_id: id } = before;
  audit(tx, act, { action: 'update', entity: 'beneficiary', entityId: id, clientId, before, after });
  const fields = PAYEE_COLUMNS.filter((name) => before[name] !== after[name]);
  if (fields.length === 0) return;
  tx.later({
    name: 'beneficiary-changed',
    text: 'insert into beneficiary_changes (client_id, beneficiary_id, at, fields) values ($1, $2, $3, $4)',
    values: [clientId, id, act.now, fields],
  });
}

/** A beneficiary with its version in the feed. */
type Versioned = Beneficiary & { version: number };
/** The version of a record in the feed. The table has no alias in the statement. */
export const VERSION_OF = `coalesce((select v.version from change_versions v
  where v.entity = 'beneficiary' and v.entity_id = beneficiary_id), 1)`;
const VERSIONED = `${BENEFICIARY.select}, ${VERSION_OF} as version`;

/** @throws Problem beneficiary_not_found */
export async function findBeneficiary(db: Db, id: string): Promise<{ record: Beneficiary; version: number }> {
  const found = first(
    await db.query<Versioned>(`select ${VERSIONED} from beneficiaries where beneficiary_id = $1`, [id]),
  );
  if (!found) throw noBeneficiary();
  const { version, ...record } = found;
  return { record: record as Beneficiary, version };
}

/** The refusal of a beneficiary that does not exist or belongs to another client. */
export function noBeneficiary(): Problem {
  return new Problem('beneficiary_not_found', { field: 'beneficiary_id', message: 'does not exist' });
}

/** A page of beneficiaries in the order of their identifiers. */
export function listBeneficiaries(
  db: Db,
  { source, ...request }: ListRequest & { source?: Source | undefined },
): Promise<List<Beneficiary>> {
  const list = { select: BENEFICIARY.select, from: BENEFICIARY.table, client: 'client_id', order: 'beneficiary_id' };
  return listRows<Beneficiary>(db, { ...list, filters: [['source = ?', source]] }, request);
}

const NAMED = `select beneficiary_id from beneficiaries where beneficiary_id = $1
  union (select beneficiary_id from beneficiaries where client_id = any(array(select client_id from clients)) and active and name_key >= $2
    and name_key < $5 and starts_with(name_key, $2) limit $4)
  union (select beneficiary_id from beneficiaries where client_id = any(array(select client_id from clients)) and active and iban = $3
    limit $4)
  order by 1 limit $4`;

/** After every other character: what begins with a text is before the text with it. */
const LAST_CHARACTER = '\u{10ffff}';

/**
 * The beneficiaries of all clients that a text names: by identifier, beginning of the name, or IBAN. In a database whose collation does not
 * sort by code points the range may end early: then only whole names are found for certain.
 */
export async function beneficiariesNamed(db: Db, text: string, limit: number): Promise<Beneficiary[]> {
  const named = unionOfCells(db, 'beneficiaries')?.(NAMED) ?? NAMED;
  const key = nameKey(text);
  const values = [text, key, electronic(text), limit, `${key}${LAST_CHARACTER}`];
  const { rows } = await db.query<{ beneficiary_id: string }>(named, values);
  const ids = rows.slice(0, limit).map(({ beneficiary_id: id }) => id);
  return ids.length > 0 ? readBeneficiaries(db, ids) : [];
}

/** Beneficiaries in the form that the operator reads, for the change feed. */
export async function readBeneficiaries(db: Db, ids: readonly string[]): Promise<Beneficiary[]> {
  const text = `select ${BENEFICIARY.select} from beneficiaries where beneficiary_id = any($1)`;
  return (await db.query<Beneficiary>(overCells(db, 'beneficiaries', text), [ids])).rows;
}

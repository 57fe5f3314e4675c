import { Problem } from '../../values/errors.ts';
import { textArray } from '../../values/text-array.ts';
import { present } from '../../values/unknown.ts';
import type { Db, Pool, Transaction } from '../database.ts';
import { type ClaimedField, KIND_NAMES, KINDS, type Kind } from '../kinds.ts';
import { existingIds, nextIds } from '../rows.ts';
import { type Home, type HomeRow, homeColumns } from './client-moves.ts';
import { withinCell } from './connection.ts';
import { besideOf, hasSeveralCells, quotedSchema } from './pool.ts';
import { unionOfCells } from './union.ts';

/**
 * Identifiers that callers may choose are unique across all clients. In a database with one cell, unique indexes ensure this, and nothing
 * here queries the database. With several cells, an index sees only one of them. So an identifier is claimed for its client, in a table
 * that exists once, before the record is written. Two callers that claim one identifier at the same time wait for each other, as they would
 * at an index.
 *
 * A claim says which client owns the identifier. The same client may claim it again; then the index of the client's cell decides. If one
 * PostgreSQL has all cells, claim and record are one transaction. On Citus, the worker with the record commits before the coordinator, so a
 * crash could leave a record without a claim. There the claim commits first, by itself. If its record was never written, the client's next
 * attempt uses the claim, and otherwise it is removed (identifier-sweep.ts). Generated identifiers are claimed too, so that a chosen one
 * never collides with them in another cell. Generated UETRs are not claimed because they are random. A chosen UETR, which only imports can
 * give, is searched for in all cells.
 */

interface Field {
  table: string;
  /** Whether its column is of type uuid. */
  uuid: boolean;
  /** The kind for which `nextId` makes one. */
  made: Kind | undefined;
}

const FIELDS = Object.fromEntries(
  KIND_NAMES.flatMap((kind) => {
    const { table, id, type, claims = [] } = KINDS[kind];
    return claims.map((column): [string, Field] => [
      column,
      { table, uuid: column !== id || type === 'uuid', made: column === id ? kind : undefined },
    ]);
  }),
) as Record<ClaimedField, Field>;

/** An identifier, and the client that is to own it. */
export interface Claim {
  id: string;
  clientId: string;
}

/** The most identifiers that are made at once, unless more records need one. */
const MAX_MADE_IDS = 1_000;

/** The identifiers that callers have chosen for the records that transactions make. */
const CHOSEN = new WeakMap<Transaction, Set<string>>();

/** Whether a caller has chosen the identifier of a record that a transaction makes. Another record may have had it, which a reset removed. */
export function isChosen(tx: Transaction, kind: Kind, id: string): boolean {
  return CHOSEN.get(tx)?.has(keyOf(id, kind)) ?? false;
}

/** Forgets the chosen identifiers of a transaction that has ended. */
export function forgetChosen(tx: Transaction): void {
  CHOSEN.delete(tx);
}

/** Notes that a caller has chosen identifiers. `newIds` does it by itself. */
export function noteChosen(tx: Transaction, kind: Kind, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const known = CHOSEN.get(tx) ?? new Set();
  CHOSEN.set(tx, known);
  for (const id of ids) known.add(keyOf(id, kind));
}

/** Whether a column has identifiers that are claimed. */
export function isClaimed(column: string): column is ClaimedField {
  return column in FIELDS;
}

/** A record that is about to be written. Its identifier is given, or `newIds` makes one. */
interface Identified {
  id: string | undefined;
  input: { client_id: string };
}

/**
 * The identifier of a record that is about to be written: the given one, or a new one. If there are several cells, it is claimed.
 * @throws Problem already_exists
 */
export async function newId(tx: Transaction, clientId: string, field: ClaimedField, given?: string): Promise<string> {
  const record = { id: given, input: { client_id: clientId } };
  const problem = (await newIds(tx, field, [record], false)).get(0);
  if (problem) throw problem;
  return present(record.id);
}

/**
 * Gives identifiers to those of the records that have none. If there are several cells, all identifiers are claimed.
 * @param look whether to search the cell for given ones. For a single record this is not needed: the index refuses it when it is written.
 * @returns why given identifiers are refused, by the index of their record
 */
export async function newIds(
  tx: Transaction,
  field: ClaimedField,
  records: readonly Identified[],
  look: boolean,
): Promise<Map<number, Problem>> {
  const refused = new Map<number, Problem>();
  const given = records.flatMap(({ id, input }, index) =>
    id === undefined ? [] : [{ id, clientId: input.client_id, index }],
  );
  const ids = given.map(({ id }) => id);
  const kind = FIELDS[field].made;
  if (kind) noteChosen(tx, kind, ids);
  const taken = look ? await existingIds(tx, { table: FIELDS[field].table, column: field }, ids) : new Set<string>();
  const claims: typeof given = [];
  for (const each of given) {
    if (taken.has(each.id)) refused.set(each.index, takenId(field));
    else claims.push(each);
    taken.add(each.id);
  }
  for (const { index } of await claimIds(tx, field, claims)) refused.set(index, takenId(field));
  let open = records.filter(({ id }) => id === undefined);
  // Callers may already have chosen many of the next numbers. They are looked up once the first ones turn out to be taken.
  let isFirst = true;
  for (let count = open.length; open.length > 0; count = Math.min(count * 2, Math.max(MAX_MADE_IDS, open.length))) {
    const made = await nextIds(tx, FIELDS[field].made, count);
    const held = hasSeveralCells(tx) && !isFirst ? await heldIds(tx, field, made) : new Set();
    isFirst = false;
    const free = made.filter((id) => !held.has(id) && !taken.has(id));
    const pairs = open
      .slice(0, free.length)
      .map((record, at) => ({ record, id: present(free[at]), clientId: record.input.client_id }));
    const lost = new Set(await claimNew(tx, field, pairs));
    for (const pair of pairs) if (!lost.has(pair)) pair.record.id = pair.id;
    open = open.filter(({ id }) => id === undefined);
  }
  return refused;
}

/** The refusal of an identifier that belongs to another record. Its text is the same as if the index had found it. */
export function takenId(field: ClaimedField): Problem {
  const message = field === 'uuid' ? 'is already the uuid of another payment' : 'is already in use';
  return new Problem('already_exists', { field, message });
}

/**
 * Claims identifiers in one statement, always in the same order. Does nothing if the database has one cell.
 * @returns the claims whose identifier belongs to another client
 */
export async function claimIds<C extends Claim>(tx: Transaction, field: ClaimedField, claims: C[]): Promise<C[]> {
  if (claims.length === 0 || !hasSeveralCells(tx)) return [];
  const beside = besideOf(tx);
  if (beside) return claimBeside(tx, beside, { field, claims });
  return othersOf(tx, field, await claimNew(tx, field, claims));
}

/**
 * Claims identifiers that nobody has, in one statement, always in the same order. Does nothing if the database has one cell.
 * @returns the claims whose identifier was claimed before, or belongs to a record
 */
async function claimNew<C extends Claim>(tx: Transaction, field: ClaimedField, claims: C[]): Promise<C[]> {
  if (claims.length === 0 || !hasSeveralCells(tx)) return [];
  const { rows } = await (besideOf(tx) ?? tx).query<{ id: string; client_id: string }>({
    name: `claim-${field}`,
    text: `insert into claims (field, id, client_id)
      select '${field}', w.id, w.client_id from unnest($1::text[], $2::text[]) as w (id, client_id)
      where not exists (${unclaimed(tx, field)}) order by w.id
      on conflict do nothing returning id, client_id`,
    values: valuesOf(claims),
  });
  const fresh = new Set(rows.map(({ id, client_id: clientId }) => keyOf(id, clientId)));
  return claims.filter(({ id, clientId }) => !fresh.has(keyOf(id, clientId)));
}

/**
 * Claims identifiers in a statement that commits by itself. A repeated claim of the same client gets a new moment, so that the sweep leaves
 * it alone.
 */
async function claimBeside<C extends Claim>(
  tx: Transaction,
  beside: Pool,
  { field, claims }: { field: ClaimedField; claims: C[] },
): Promise<C[]> {
  const open = field === 'uuid' ? await withoutUuidsOfOthers(tx, claims) : claims;
  const free = field === 'uuid' ? 'true' : `not exists (${unclaimed(tx, field)} and r.client_id <> w.client_id)`;
  const { rows } = await beside.query<{ id: string; client_id: string }>(
    `insert into claims as c (field, id, client_id)
     select distinct on (w.id) '${field}'::claimed_field, w.id, w.client_id
     from unnest($1::text[], $2::text[]) with ordinality as w (id, client_id, place) where ${free} order by w.id, w.place
     on conflict (field, id) do update set claimed_at = now() where c.client_id = excluded.client_id returning id, client_id`,
    valuesOf(open),
  );
  const own = new Set(rows.map(({ id, client_id: clientId }) => keyOf(id, clientId)));
  return claims.filter(({ id, clientId }) => !own.has(keyOf(id, clientId)));
}

/** Drops the claims whose UETR belongs to another client. Generated UETRs have no claim, so each cell is searched. */
async function withoutUuidsOfOthers<C extends Claim>(tx: Transaction, claims: C[]): Promise<C[]> {
  const select = 'select uuid::text as id, client_id from payments where uuid = any($1::uuid[])';
  const { rows } = await withinCell(tx, 'all', () =>
    tx.query<{ id: string; client_id: string }>(unionOfCells(tx, 'payments')?.(select) ?? select, [
      textArray(claims.map(({ id }) => id)),
    ]),
  );
  const holders = new Map(rows.map((row) => [row.id, row.client_id]));
  return claims.filter(({ id, clientId }) => (holders.get(id) ?? clientId) === clientId);
}

/** The claims whose identifier belongs to a client other than the one they name. */
export async function othersOf<C extends Claim>(db: Db, field: ClaimedField, claims: C[]): Promise<C[]> {
  if (claims.length === 0) return [];
  const { rows } = await db.query<{ id: string; client_id: string }>(
    `select w.id, w.client_id from unnest($1::text[], $2::text[]) as w (id, client_id)
     where exists (select from claims c where c.field = '${field}' and c.id = w.id and c.client_id <> w.client_id)
       or exists (${unclaimed(db, field)} and r.client_id <> w.client_id)`,
    valuesOf(claims),
  );
  const held = new Set(rows.map(({ id, client_id: clientId }) => keyOf(id, clientId)));
  return claims.filter(({ id, clientId }) => held.has(keyOf(id, clientId)));
}

/** Which of some identifiers are in use by any client. */
export async function heldIds(db: Db, field: ClaimedField, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select w.id from unnest($1::text[]) as w (id)
     where exists (select from claims c where c.field = '${field}' and c.id = w.id) or exists (${unclaimed(db, field)})`,
    [textArray(ids)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Where the records with some identifiers live, for identifiers that are claimed. This is the directory of records. */
export async function homesOfIds(db: Db, field: ClaimedField, ids: readonly string[]): Promise<Map<string, Home>> {
  const { rows } = await db.query<HomeRow & { id: string }>(
    `select c.id, ${homeColumns('k')} from claims c join clients k on k.client_id = c.client_id
     where c.field = '${field}' and c.id = any($1)`,
    [textArray(ids)],
  );
  return new Map(rows.map(({ id, ...home }) => [id, home]));
}

/**
 * Gives up the claims to a client's rows of a table, before the rows are removed. Does nothing if the database has one cell. If claims
 * commit by themselves, they get a new moment instead. The sweep later finds them without a record; until then only the client can use the
 * identifiers.
 */
export async function releaseClaims(tx: Transaction, table: string, clientId: string): Promise<void> {
  if (!hasSeveralCells(tx)) return;
  const beside = besideOf(tx);
  for (const [field] of fieldsOf(table))
    if (beside) {
      const text = `select ${field}::text as id from ${table} where client_id = $1`;
      const { rows } = await tx.query<{ id: string }>(text, [clientId]);
      await beside.query(
        `update claims set claimed_at = now() where field = '${field}' and client_id = $1 and id = any($2)`,
        [clientId, textArray(rows.map(({ id }) => id))],
      );
    } else
      await tx.query(
        `delete from claims c using ${table} r where c.field = '${field}' and c.id = r.${field}::text and c.client_id = $1 and r.client_id = $1`,
        [clientId],
      );
}

/**
 * Claims the identifiers in a client's rows of a table before the rows leave the first cell. The rows may date from before there were other
 * cells.
 */
export async function claimRows(tx: Transaction, table: string, clientId: string): Promise<void> {
  for (const [field] of fieldsOf(table))
    await tx.query(
      `insert into claims (field, id, client_id) select '${field}', r.${field}::text, client_id from ${table} r where client_id = $1
       on conflict do nothing`,
      [clientId],
    );
}

/** Which of some identifiers records of the given clients already use. @param tx in the cell of the clients */
export async function writtenIds(
  tx: Transaction,
  field: ClaimedField,
  { ids, clientIds }: { ids: readonly string[]; clientIds: readonly string[] },
): Promise<Set<string>> {
  const { table, uuid } = FIELDS[field];
  const { rows } = await tx.query<{ id: string }>(
    `select r.id from unnest($2::${uuid ? 'uuid' : 'text'}[]) as w (id) cross join lateral (
       select ${field}::text as id from ${table} where client_id = any($1) and ${field} = w.id offset 0) r`,
    [textArray(clientIds), textArray(ids)],
  );
  return new Set(rows.map(({ id }) => id));
}

function fieldsOf(table: string): [string, Field][] {
  return Object.entries(FIELDS).filter(([, field]) => field.table === table);
}

/** SQL for records `r` that have the identifier `w.id` without a claim: generated UETRs, and records from before there were several cells. */
function unclaimed(db: object, field: ClaimedField): string {
  const { table, uuid } = FIELDS[field];
  const schema = quotedSchema(db, field === 'uuid' ? 'all' : 0);
  return `select from ${schema}.${table} r where r.${field} = w.id${uuid ? '::uuid' : ''}`;
}

function valuesOf(claims: readonly Claim[]): string[] {
  return [textArray(claims.map(({ id }) => id)), textArray(claims.map(({ clientId }) => clientId))];
}

function keyOf(id: string, other: string): string {
  return `${id}\0${other}`;
}

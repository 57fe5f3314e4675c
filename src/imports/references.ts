import { PAYEE_COLUMNS, PAYEE_STATE_COLUMNS, type Payee, type PayeeState } from '../beneficiaries/payee.ts';
import type { Transaction } from '../database/database.ts';
import type { ErrorCode } from '../values/errors.ts';
import { textArray } from '../values/text-array.ts';
import type { ImportRow, Refusals } from './kind.ts';

/**
 * What records refer to: it must exist and belong to the client. Each check is one statement for a batch.
 */

/** One client's entity, as the key of a map. Neither part can contain NUL. */
export function pairKey(clientId: string, id: string): string {
  return `${clientId}\0${id}`;
}

/** What payments need to know of a client. */
export interface ClientSettings {
  workflow: string;
  approvalsEnabled: boolean;
}

/** The clients among identifiers. */
export async function findClients(tx: Transaction, ids: Iterable<string>): Promise<Map<string, ClientSettings>> {
  const { rows } = await tx.query<{ client_id: string } & ClientSettings>(
    `select client_id, authorisation_workflow as workflow, payment_approvals_enabled as "approvalsEnabled"
     from clients where client_id = any($1)`,
    [textArray([...new Set(ids)])],
  );
  return new Map(rows.map((row) => [row.client_id, row]));
}

/** Refuses the lines whose client does not exist; gives the others' clients. */
export async function checkClients(
  tx: Transaction,
  rows: ImportRow<{ client_id: string }>[],
  refusals: Refusals,
): Promise<Map<string, ClientSettings>> {
  const clients = await findClients(
    tx,
    rows.map(({ input }) => input.client_id),
  );
  for (const { line, input } of rows) {
    if (!clients.has(input.client_id))
      refusals.refuse(line, 'client_not_found', { field: 'client_id', message: 'does not exist' });
  }
  return clients;
}

/** Refuses the lines whose contact does not belong to the client; gives the names of the others' by `pairKey`. */
export async function checkContacts(
  tx: Transaction,
  rows: ImportRow<{ client_id: string; contact_id: string }>[],
  refusals: Refusals,
): Promise<Map<string, string>> {
  const pairs = distinctPairs(rows.map(({ input }) => [input.client_id, input.contact_id]));
  const found = await tx.query<{ client_id: string; contact_id: string; name: string }>(
    `select cc.client_id, cc.contact_id, c.name from unnest($1::text[], $2::text[]) as u(client_id, contact_id)
     join contact_clients cc on cc.client_id = u.client_id and cc.contact_id = u.contact_id
     join contacts c on c.contact_id = cc.contact_id`,
    [textArray(pairs.map(([client]) => client)), textArray(pairs.map(([, contact]) => contact))],
  );
  const names = new Map(found.rows.map((row) => [pairKey(row.client_id, row.contact_id), row.name]));
  for (const { line, input } of rows) {
    if (!names.has(pairKey(input.client_id, input.contact_id)))
      refusals.refuse(line, 'contact_not_found', {
        field: 'contact_id',
        message: 'does not exist, or does not belong to the client',
      });
  }
  return names;
}

/** Refuses the lines whose beneficiary is not the client's; gives whom the others pay by `pairKey`. */
export async function findPayees(
  tx: Transaction,
  rows: ImportRow<{ client_id: string; beneficiary_id: string }>[],
  refusals: Refusals,
): Promise<Map<string, Payee & PayeeState>> {
  const pairs = distinctPairs(rows.map(({ input }) => [input.client_id, input.beneficiary_id]));
  const found = await tx.query<{ client_id: string; beneficiary_id: string } & Payee & PayeeState>(
    `select b.client_id, b.beneficiary_id, ${[...PAYEE_COLUMNS, ...PAYEE_STATE_COLUMNS].map((name) => `b.${name}`).join(', ')}
     from unnest($1::text[], $2::text[]) as u(client_id, beneficiary_id)
     join beneficiaries b on b.client_id = u.client_id and b.beneficiary_id = u.beneficiary_id`,
    [textArray(pairs.map(([client]) => client)), textArray(pairs.map(([, beneficiary]) => beneficiary))],
  );
  const payees = new Map(found.rows.map((row) => [pairKey(row.client_id, row.beneficiary_id), row]));
  for (const { line, input } of rows) {
    if (!payees.has(pairKey(input.client_id, input.beneficiary_id)))
      refusals.refuse(line, 'beneficiary_not_found', notOwned('beneficiary_id'));
  }
  return payees;
}

/** A table in which each client has entities of its own. Names are the program's own, never a caller's. */
export interface OwnedTable {
  table: string;
  column: string;
}

/** Which pairs of client and identifier a table lacks, by `pairKey`. */
export async function findMissing(
  tx: Transaction,
  { table, column }: OwnedTable,
  pairs: [clientId: string, id: string][],
): Promise<Set<string>> {
  const distinct = distinctPairs(pairs);
  const { rows } = await tx.query<{ client_id: string; id: string }>(
    `select u.client_id, u.id from unnest($1::text[], $2::text[]) as u(client_id, id)
     where not exists (select from ${table} t where t.client_id = u.client_id and t.${column} = u.id)`,
    [textArray(distinct.map(([client]) => client)), textArray(distinct.map(([, id]) => id))],
  );
  return new Set(rows.map((row) => pairKey(row.client_id, row.id)));
}

/** Refuses the lines that refer to an entity which the client does not have. */
export async function checkOwned<Column extends string>(
  tx: Transaction,
  rows: ImportRow<{ client_id: string } & Record<Column, string>>[],
  refusals: Refusals,
  owned: { table: string; column: Column; code: ErrorCode },
): Promise<void> {
  const idOf = (input: { client_id: string } & Record<Column, string>): [string, string] => [
    input.client_id,
    input[owned.column],
  ];
  const missing = await findMissing(
    tx,
    owned,
    rows.map(({ input }) => idOf(input)),
  );
  for (const { line, input } of rows) {
    if (missing.has(pairKey(...idOf(input)))) refusals.refuse(line, owned.code, notOwned(owned.column));
  }
}

/** The fault of a field that names what the client does not have. */
export function notOwned(field: string): { field: string; message: string } {
  return { field, message: 'does not exist, or belongs to another client' };
}

function distinctPairs(pairs: [string, string][]): [string, string][] {
  return [...new Map(pairs.map((pair) => [pairKey(...pair), pair])).values()];
}

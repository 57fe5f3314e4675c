import { isDistributed } from '../../database/cells/pool.ts';
import type { Db, Transaction } from '../../database/database.ts';
import { readTogether } from '../../database/rows.ts';
import { type ErrorCode, Problem } from '../../values/errors.ts';
import { textArray } from '../../values/text-array.ts';

/** Checks that a client exists, before something is created for it. @throws Problem client_not_found */
export async function requireClient(db: Db, clientId: string): Promise<void> {
  if (!(await existingClients(db, [clientId])).has(clientId)) throw noClient();
}

/** Which of some clients exist. */
export async function existingClients(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ client_id: string }>({
    name: 'clients-existing',
    text: 'select client_id from clients where client_id = any($1)',
    values: [[...new Set(ids)]],
  });
  return new Set(rows.map((row) => row.client_id));
}

/** The refusal of a client that does not exist. @param inside path of the record within the request, such as `trades[0].` */
export function noClient(inside = ''): Problem {
  return new Problem('client_not_found', { field: `${inside}client_id`, message: 'does not exist' });
}

/** The refusal of a field that names something the client does not have. */
export function notOfClient(code: ErrorCode, field: string): Problem {
  return new Problem(code, { field, message: 'does not exist for this client' });
}

/** The client and the contact of a new record. */
interface Creator {
  client_id: string;
  contact_id: string;
}

/**
 * Checks that a client exists, and that a contact is one of its contacts.
 * @throws Problem client_not_found, contact_not_found
 */
export async function requireContact(tx: Transaction, creator: Creator): Promise<void> {
  const problem = creatorFault(await findReferences<object>(tx, [creator], { queries: {}, values: [] }), creator);
  if (problem) throw problem;
}

/**
 * Why a record cannot have this client or contact.
 * @param found its references
 * @param inside see `noClient`
 */
export function creatorFault(
  { clients, contacts }: { clients: ReadonlyMap<string, unknown>; contacts: ReadonlyMap<string, unknown> },
  { client_id: client, contact_id: contact }: Creator,
  inside = '',
): Problem | undefined {
  if (!clients.has(client)) return noClient(inside);
  if (contacts.has(pairKey(client, contact))) return undefined;
  return notOfClient('contact_not_found', `${inside}contact_id`);
}

interface People {
  clients: { client_id: string; workflow: string; approvalsEnabled: boolean };
  contacts: { client_id: string; contact_id: string; name: string };
}

/** @param contacts the SQL parameter with the contacts, parallel to their clients in `$1` */
const peopleOf = (contacts: string) => ({
  clients: `select client_id, authorisation_workflow as workflow, payment_approvals_enabled as "approvalsEnabled"
    from clients where client_id = any($1::text[])`,
  contacts: `select cc.client_id, cc.contact_id, c.name from (select distinct * from unnest($1::text[], ${contacts}::text[])) as u(client_id, contact_id)
    join contact_clients cc on cc.client_id = u.client_id and cc.contact_id = u.contact_id join contacts c on c.contact_id = cc.contact_id`,
});

/**
 * Finds the clients and contacts that new records name, and what else they refer to. It takes one statement, or two if a Citus worker holds
 * the records but not the people.
 * @param others `queries`: SQL of the program's own for each of the other lists; `values`: their parameters, from `$2` on
 */
export async function findReferences<Others>(
  tx: Transaction,
  creators: readonly Creator[],
  { queries, values }: { queries: { [List in keyof Others]: string }; values: readonly (readonly string[])[] },
) {
  const owners = textArray(creators.map((each) => each.client_id));
  const people = textArray(creators.map((each) => each.contact_id));
  const others = values.map(textArray);
  const found = isDistributed(tx)
    ? {
        ...(await readTogether<People>(tx, peopleOf('$2'), [owners, people])),
        ...(await readTogether<Others>(tx, queries, [owners, ...others])),
      }
    : await readTogether<People & Others>(tx, { ...queries, ...peopleOf(`$${others.length + 2}`) }, [
        ...[owners, ...others, people],
      ]);
  return {
    ...found,
    clients: new Map(found.clients.map((row) => [row.client_id, row])),
    /** Their names, by `pairKey`. */
    contacts: new Map(found.contacts.map((row) => [pairKey(row.client_id, row.contact_id), row.name])),
  };
}

/**
 * A query for records of clients, with a separate look-up for each.
 * @param key the columns that identify a record, besides its client's
 * @param parameters SQL parameters of these columns; those of the clients are in `$1`
 */
export function owned(table: string, key: readonly string[], parameters: readonly string[], columns = key): string {
  const lists = ['$1', ...parameters].map((parameter) => `${parameter}::text[]`).join(', ');
  const same = key.map((column) => `t.${column} = u.${column}`).join(' and ');
  return `select r.client_id, ${columns.map((column) => `r.${column}`).join(', ')}
    from (select distinct * from unnest(${lists})) as u(client_id, ${key.join(', ')})
    cross join lateral (select * from ${table} t where t.client_id = u.client_id and ${same} offset 0) r`;
}

/** The key in a map for something that a client has. Neither part can contain NUL. */
export function pairKey(clientId: string, id: string): string {
  return `${clientId}\0${id}`;
}

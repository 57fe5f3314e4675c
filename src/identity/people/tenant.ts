import { type Db, first } from '../../database/database.ts';
import { Problem } from '../../values/errors.ts';

/**
 * Checks that a client exists, before something is created for it.
 * @param inside path of the record within the request that names the client, as `trades[0].`
 * @throws Problem client_not_found
 */
export async function requireClient(db: Db, clientId: string, inside = ''): Promise<void> {
  if (!(await existingClients(db, [clientId])).has(clientId)) throw noClient(inside);
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

/** What a caller is told who names a client that does not exist. @param inside as of `requireClient` */
export function noClient(inside = ''): Problem {
  return new Problem('client_not_found', { field: `${inside}client_id`, message: 'does not exist' });
}

/**
 * Checks that a client exists, and that a contact is one of its contacts.
 * @param inside as of `requireClient`
 * @throws Problem client_not_found, contact_not_found
 */
export async function requireContact(
  db: Db,
  { clientId, contactId }: { clientId: string; contactId: string },
  inside = '',
): Promise<void> {
  const found = first(
    await db.query<{ contact: boolean }>(
      `select exists (select from contact_clients where client_id = $1 and contact_id = $2) as contact
       from clients where client_id = $1`,
      [clientId, contactId],
    ),
  );
  if (!found) throw noClient(inside);
  if (!found.contact)
    throw new Problem('contact_not_found', { field: `${inside}contact_id`, message: 'does not exist for this client' });
}

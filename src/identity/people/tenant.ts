import { type Db, first } from '../../database/database.ts';
import { Problem } from '../../values/errors.ts';

/**
 * Checks that a client exists, before something is created for it.
 * @param inside path of the record within the request that names the client, as `trades[0].`
 * @throws Problem client_not_found
 */
export async function requireClient(db: Db, clientId: string, inside = ''): Promise<void> {
  const { rows } = await db.query('select from clients where client_id = $1', [clientId]);
  if (rows.length === 0)
    throw new Problem('client_not_found', { field: `${inside}client_id`, message: 'does not exist' });
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
  if (!found) throw new Problem('client_not_found', { field: `${inside}client_id`, message: 'does not exist' });
  if (!found.contact)
    throw new Problem('contact_not_found', { field: `${inside}contact_id`, message: 'does not exist for this client' });
}

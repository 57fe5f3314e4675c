import { type Static, Type } from 'typebox';
import { type Db, first } from '../../database/database.ts';
import { Problem } from '../../values/errors.ts';
import { Nullable } from '../../values/schemas.ts';
import { tableOf } from '../../values/unknown.ts';
import { PERMISSIONS } from './permission.ts';

/** A contact in the form that other contacts of its client see. */
export const CLIENT_CONTACT = Type.Object({
  contact_id: Type.String(),
  name: Type.String(),
  email_address: Type.String(),
  language: Nullable(Type.String({ description: 'Of its mails; null: English' })),
  ...tableOf(PERMISSIONS, () => Type.Boolean()),
});
type ClientContact = Static<typeof CLIENT_CONTACT>;

const SELECT = `select c.contact_id, c.name, c.email as email_address, c.language, ${PERMISSIONS.map((name) => `m.${name}`).join(', ')}
  from contact_clients m join contacts c on c.contact_id = m.contact_id where m.client_id = $1 and c.status = 'enabled'`;

/** The enabled contacts of a client, in the order of their identifiers. */
export async function clientContacts(db: Db, clientId: string): Promise<ClientContact[]> {
  const { rows } = await db.query<ClientContact>(`${SELECT} order by c.contact_id`, [clientId]);
  return rows;
}

/** An enabled contact of a client. @throws Problem contact_not_found */
export async function clientContact(db: Db, clientId: string, contactId: string): Promise<ClientContact> {
  const found = first(await db.query<ClientContact>(`${SELECT} and c.contact_id = $2`, [clientId, contactId]));
  if (found) return found;
  throw new Problem('contact_not_found', { field: 'contact_id', message: 'does not exist for this client' });
}

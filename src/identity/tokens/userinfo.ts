import { type Db, first } from '../../database/database.ts';
import type { Session } from './sessions.ts';

/** The claims of a contact (OpenID Connect Core, 5.3). */
export interface Userinfo {
  sub: string;
  name?: string;
  email?: string;
  clients: { client_id: string; client_name: string }[];
}

/** The claims of the contact that a session belongs to. */
export async function findUserinfo(db: Db, session: Session): Promise<Userinfo> {
  const contact = first(
    await db.query<{ name: string; email: string }>('select name, email from contacts where contact_id = $1', [
      session.contactId,
    ]),
  );
  const clients = [...session.clients].map(([client_id, { name }]) => ({ client_id, client_name: name }));
  return { sub: session.contactId, ...contact, clients };
}

import { type Db, first } from '../database.ts';
import type { Language } from '../language.ts';
import { PERMISSIONS, type Permission } from './contact.ts';

/** A client of a person, as the pages show it. */
export interface PageClient {
  client_id: string;
  client_name: string;
  status: 'enabled' | 'disabled';
  approval_step_up: boolean;
  permissions: Permission[];
  /** Payments that wait for an approval by this person. */
  waiting: number;
}

/** Who is signed in to the pages. */
export interface PagePerson {
  contact_id: string;
  name: string;
  email: string;
  language: Language | null;
  second_factor: 'none' | 'totp' | 'sms';
  /** Recovery codes that are left. */
  recovery_codes: number;
  approval_mails: boolean;
  clients: PageClient[];
}

const OWN = PERMISSIONS.map((name) => `case when m.${name} then '${name}' end`).join(', ');

/** Kept, and not counted: every open page asks for it every few seconds (docs/search.md). */
const WAITING = ['payment_approver_totals where grain = 0 and', 'payment_approver_deltas where']
  .map((kept) => `(select coalesce(sum(n), 0) from ${kept} client_id = m.client_id and contact_id = m.contact_id)`)
  .join(' + ');

/** The person of a session, with its clients by name. Undefined where the contact does not exist. */
export async function findPagePerson(db: Db, contactId: string): Promise<PagePerson | undefined> {
  return first(
    await db.query<PagePerson & Record<string, unknown>>(
      `select k.contact_id, k.name, k.email, k.language, k.second_factor, k.approval_mails,
         (select count(*) from recovery_codes r where r.contact_id = k.contact_id) as recovery_codes,
         coalesce((select json_agg(json_build_object('client_id', c.client_id, 'client_name', c.client_name, 'status', c.status,
             'approval_step_up', c.approval_step_up, 'permissions', array_remove(array[${OWN}], null),
             'waiting', case when m.can_authorise_payments then ${WAITING} else 0 end) order by c.client_name, c.client_id)
           from contact_clients m join clients c on c.client_id = m.client_id where m.contact_id = k.contact_id), '[]') as clients
       from contacts k where k.contact_id = $1`,
      [contactId],
    ),
  );
}

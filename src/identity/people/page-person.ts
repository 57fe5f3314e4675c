import { homesOfClients } from '../../database/cells/directory.ts';
import { hasSeveralCells } from '../../database/cells/pool.ts';
import { inCell } from '../../database/cells/scope.ts';
import { type Db, first } from '../../database/database.ts';
import { databaseFault } from '../../database/fault.ts';
import type { Language } from '../../values/language.ts';
import { type Permission, permissionsOf } from './permission.ts';

/** A client of a person in the form that the pages show. */
export interface PageClient {
  client_id: string;
  client_name: string;
  status: 'enabled' | 'disabled';
  approval_step_up: boolean;
  permissions: Permission[];
  /** The number of payments that wait for an approval by this person. */
  waiting: number;
}

/** The person who is signed in to the pages. */
export interface PagePerson {
  contact_id: string;
  name: string;
  email: string;
  language: Language | null;
  second_factor: 'none' | 'totp' | 'sms';
  /** The number of recovery codes that are left. */
  recovery_codes: number;
  approval_mails: boolean;
  clients: PageClient[];
}

/** The number is kept rather than counted, because every open page asks for it every few seconds (docs/search.md). */
const WAITING = ['payment_approver_totals where grain = 0 and', 'payment_approver_deltas where']
  .map((kept) => `(select coalesce(sum(n), 0) from ${kept} client_id = m.client_id and contact_id = m.contact_id)`)
  .join(' + ');

/** The person of a session, with its clients by name. Undefined if the contact does not exist. */
export async function findPagePerson(db: Db, contactId: string): Promise<PagePerson | undefined> {
  if (!hasSeveralCells(db)) return readPerson(db, contactId, WAITING);
  const person = await readPerson(db, contactId, '0');
  if (person) await countWaiting(db, person);
  return person;
}

/** @param waiting SQL for the number of the client's payments that wait for the person */
async function readPerson(db: Db, contactId: string, waiting: string): Promise<PagePerson | undefined> {
  return first(
    await db.query<PagePerson & Record<string, unknown>>(
      `select k.contact_id, k.name, k.email, k.language, k.second_factor, k.approval_mails,
         (select count(*) from recovery_codes r where r.contact_id = k.contact_id) as recovery_codes,
         coalesce((select json_agg(json_build_object('client_id', c.client_id, 'client_name', c.client_name, 'status', c.status,
             'approval_step_up', c.approval_step_up, 'permissions', ${permissionsOf('m')},
             'waiting', case when m.can_authorise_payments then ${waiting} else 0 end) order by c.client_name, c.client_id)
           from contact_clients m join clients c on c.client_id = m.client_id where m.contact_id = k.contact_id), '[]') as clients
       from contacts k where k.contact_id = $1`,
      [contactId],
    ),
  );
}

/** Counts in the cells of the clients. The number is unknown for a cell that does not answer; its clients get 502 for everything else. */
async function countWaiting(db: Db, { contact_id: contactId, clients }: PagePerson): Promise<void> {
  const approving = clients.filter(({ permissions }) => permissions.includes('can_authorise_payments'));
  const homes = await homesOfClients(
    db,
    approving.map((client) => client.client_id),
  );
  for (const [cell, there] of Map.groupBy(homes.values(), (home) => home.cell)) {
    const text = `select m.client_id, (${WAITING})::int8 as waiting from (select $1::text as contact_id, unnest($2::text[]) as client_id) m`;
    const values = [contactId, there.map(({ clientId }) => clientId)];
    const counted = await inCell(cell, () => db.query<{ client_id: string; waiting: number }>(text, values)).catch(
      (error: unknown) => {
        if (!databaseFault(error)) throw error;
        return { rows: [] };
      },
    );
    const waiting = new Map(counted.rows.map((row) => [row.client_id, row.waiting]));
    for (const client of approving) client.waiting = waiting.get(client.client_id) ?? client.waiting;
  }
}

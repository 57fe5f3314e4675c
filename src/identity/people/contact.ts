import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import { type List, type ListRequest, listRows, nextId, updateRow } from '../../database/rows.ts';
import type { Vault } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import type { Language } from '../../values/language.ts';
import { liftLocks, lockedUntil, passwordSubject, secondFactorSubject } from '../attempt-limit.ts';

/** What a contact may do for a client (docs/decisions.md, 1). Reading needs no permission. */
export const PERMISSIONS = [
  'can_authorise_payments',
  'can_manage_payments',
  'can_manage_multipayments',
  'can_manage_permissions',
  'can_manage_webhooks',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Clients that one contact can act for. */
export const MAX_CLIENTS_OF_CONTACT = 1_000;

export interface ContactClient {
  client_id: string;
  permissions: Permission[];
}

/** A person who signs in and acts for one or more clients. */
export interface Contact {
  contact_id: string;
  name: string;
  email: string;
  phone: string | null;
  status: 'enabled' | 'disabled';
  second_factor: 'none' | 'totp' | 'sms';
  trusted_access: boolean;
  /** Of mails and pages; null: what the browser asks for, and English in mails. */
  language: Language | null;
  /** Whether it is told of payments by mail. */
  approval_mails: boolean;
  clients: ContactClient[];
}

export interface ContactInput {
  contact_id?: string | undefined;
  name: string;
  email: string;
  /** From `hashPassword`, called before the transaction because it takes 20 ms of a core. */
  passwordHash?: string | null | undefined;
  phone?: string | null;
  status?: 'enabled' | 'disabled';
  second_factor?: Contact['second_factor'];
  totpSecret?: string | undefined;
  trusted_access?: boolean;
  language?: Language | null;
  approval_mails?: boolean;
  clients: { client_id: string; permissions?: Permission[] }[];
}

/** Creates a contact. The TOTP secret is stored encrypted. @throws Problem already_exists, client_not_found, invalid_body */
export async function createContact(tx: Transaction, act: Act, vault: Vault, input: ContactInput): Promise<Contact> {
  const contactId = input.contact_id ?? (await nextId(tx, 'contact_numbers', 'CON'));
  if (input.second_factor === 'sms' && !input.phone)
    throw new Problem('invalid_body', { field: 'phone', message: 'is required where second_factor is sms' });
  await tx.query(
    `insert into contacts (contact_id, name, email, password_hash, phone, status, second_factor, totp_secret,
       trusted_access, language, approval_mails, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      contactId,
      input.name,
      input.email,
      input.passwordHash ?? null,
      input.phone ?? null,
      input.status ?? 'enabled',
      input.second_factor ?? 'none',
      input.totpSecret ? vault.seal(input.totpSecret, 'totp_secret') : null,
      input.trusted_access ?? false,
      input.language ?? null,
      input.approval_mails ?? true,
      act.now,
    ],
  );
  await setClients(tx, contactId, input.clients);
  const contact = await findContact(tx, contactId);
  await audit(tx, act, { action: 'create', entity: 'contact', entityId: contactId, after: contact });
  return contact;
}

/**
 * Changes the fields of the patch. `clients` replaces the whole list.
 * @returns the contact, and every client for which its right to authorise payments changes
 * @throws Problem contact_not_found, client_not_found, already_exists, transition_not_allowed
 */
export async function updateContact(
  tx: Transaction,
  act: Act,
  vault: Vault,
  { contactId, patch }: { contactId: string; patch: Partial<ContactInput> },
): Promise<{ contact: Contact; touchedClients: string[] }> {
  await tx.query('select from contacts where contact_id = $1 for no key update', [contactId]);
  const before = await findContact(tx, contactId);
  if (patch.status === 'enabled' && before.status === 'disabled') await refuseErased(tx, contactId);
  const phone = patch.phone === undefined ? before.phone : patch.phone;
  if ((patch.second_factor ?? before.second_factor) === 'sms' && phone === null) {
    throw new Problem('invalid_body', { field: 'phone', message: 'is required where second_factor is sms' });
  }
  await updateRow(tx, 'contacts', {
    key: { contact_id: contactId },
    values: {
      name: patch.name,
      email: patch.email,
      password_hash: patch.passwordHash,
      phone: patch.phone,
      status: patch.status,
      second_factor: patch.second_factor,
      totp_secret: patch.totpSecret ? vault.seal(patch.totpSecret, 'totp_secret') : undefined,
      trusted_access: patch.trusted_access,
      language: patch.language,
      approval_mails: patch.approval_mails,
    },
    returning: 'contact_id',
  });
  if (patch.clients) await setClients(tx, contactId, patch.clients);
  const contact = await findContact(tx, contactId);
  if (patch.passwordHash) await liftLockOut(tx, contact);
  const { second_factor: factor, phone: number } = contact;
  if (before.second_factor !== factor || before.phone !== number || patch.totpSecret)
    await endOpenSignIns(tx, contactId);
  await audit(tx, act, {
    action: 'update',
    entity: 'contact',
    entityId: contactId,
    before,
    after: { ...contact, ...(patch.passwordHash !== undefined ? { password: true } : {}) },
  });
  const [did, does] = [authorisesFor(before), authorisesFor(contact)];
  const touchedClients = [...new Set([...did, ...does])].filter((id) => did.has(id) !== does.has(id)).sort();
  return { contact, touchedClients };
}

/** What an erased person ordered and approved stays under the id of its contact, so that nobody else may act as that contact. */
async function refuseErased(tx: Transaction, contactId: string): Promise<void> {
  const { rows } = await tx.query('select from erasures where contact_id = $1', [contactId]);
  if (rows.length > 0)
    throw new Problem('transition_not_allowed', {
      field: 'status',
      message: 'must stay disabled: the person was erased. Create another contact',
    });
}

/** A code that was sent or asked for before the second factor changed signs nobody in: a lost phone must not finish what it began. */
async function endOpenSignIns(tx: Transaction, contactId: string): Promise<void> {
  await tx.query('delete from second_factor_challenges where contact_id = $1', [contactId]);
}

/** The clients whose payments a contact may authorise. */
export function authorisesFor({ status, clients }: Pick<Contact, 'status' | 'clients'>): Set<string> {
  if (status !== 'enabled') return new Set();
  const may = clients.filter(({ permissions }) => permissions.includes('can_authorise_payments'));
  return new Set(may.map((client) => client.client_id));
}

/** Until when a contact cannot sign in because it guessed too often. */
export interface ContactLock {
  password_locked_until: Date | null;
  second_factor_locked_until: Date | null;
}

/** Whether a contact is locked now. @throws Problem contact_not_found */
export async function findContactLock(db: Db, contactId: string, now: Date): Promise<ContactLock> {
  await findContact(db, contactId);
  const email = await emailInSmallLetters(db, contactId);
  return {
    password_locked_until: await lockedUntil(db, passwordSubject(email), now),
    second_factor_locked_until: await lockedUntil(db, secondFactorSubject(contactId), now),
  };
}

/** Lets a contact that guessed too often sign in again at once. @throws Problem contact_not_found */
export async function unlockContact(tx: Transaction, act: Act, contactId: string): Promise<void> {
  const contact = await findContact(tx, contactId);
  await liftLockOut(tx, contact);
  await audit(tx, act, { action: 'update', entity: 'contact', entityId: contactId, after: { unlocked: true } });
}

/** Lifts the locks of the password and of the second factor. */
async function liftLockOut(tx: Transaction, { contact_id: contactId }: Contact): Promise<void> {
  const email = await emailInSmallLetters(tx, contactId);
  await liftLocks(tx, [passwordSubject(email), secondFactorSubject(contactId)]);
}

/** The sign-in counts by the email as PostgreSQL writes it in small letters. */
async function emailInSmallLetters(db: Db, contactId: string): Promise<string> {
  const found = await db.query<{ email: string }>('select lower(email) as email from contacts where contact_id = $1', [
    contactId,
  ]);
  return first(found)?.email as string;
}

async function setClients(tx: Transaction, contactId: string, clients: ContactInput['clients']): Promise<void> {
  const ids = clients.map((client) => client.client_id);
  const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (twice >= 0)
    throw new Problem('invalid_body', { field: `clients[${twice}].client_id`, message: 'is named twice' });
  const known = await tx.query<{ client_id: string }>('select client_id from clients where client_id = any($1)', [ids]);
  const unknown = ids.findIndex((id) => !known.rows.some((row) => row.client_id === id));
  if (unknown >= 0)
    throw new Problem('client_not_found', { field: `clients[${unknown}].client_id`, message: 'does not exist' });
  await tx.query('delete from contact_clients where contact_id = $1 and client_id <> all($2)', [contactId, ids]);
  const may = (permission: Permission) =>
    clients.map((client) => (client.permissions ?? PERMISSIONS).includes(permission));
  await tx.query(
    `insert into contact_clients (contact_id, client_id, ${PERMISSIONS.join(', ')})
     select $1, * from unnest($2::text[], $3::boolean[], $4::boolean[], $5::boolean[], $6::boolean[], $7::boolean[])
     on conflict (client_id, contact_id) do update set ${PERMISSIONS.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    [contactId, ids, ...PERMISSIONS.map(may)],
  );
}

const COLUMNS = `c.contact_id, c.name, c.email, c.phone, c.status, c.second_factor, c.trusted_access, c.language, c.approval_mails,
  coalesce((select json_agg(json_build_object('client_id', cc.client_id, 'permissions',
    array_remove(array[${PERMISSIONS.map((name) => `case when cc.${name} then '${name}' end`).join(', ')}], null)) order by cc.client_id)
    from contact_clients cc where cc.contact_id = c.contact_id), '[]') as clients`;

/** A contact with its clients and permissions. @throws Problem contact_not_found, which names `field` */
export async function findContact(db: Db, contactId: string, field = 'contact_id'): Promise<Contact> {
  const contact = first(
    await db.query<Contact>(`select ${COLUMNS} from contacts c where c.contact_id = $1`, [contactId]),
  );
  if (!contact) throw new Problem('contact_not_found', { field, message: 'does not exist' });
  return contact;
}

/** A page of contacts: of all, of one client, or the one with an email, which knows no case. */
export function listContacts(db: Db, request: ListRequest & { email?: string | undefined }): Promise<List<Contact>> {
  const { email, clientId } = request;
  const filters = [
    ['exists (select from contact_clients m where m.contact_id = c.contact_id and m.client_id = ?)', clientId],
    ['lower(c.email) = lower(?)', email],
  ] as const;
  return listRows(db, { select: COLUMNS, from: 'contacts c', order: 'c.contact_id', filters }, request);
}

/** Contacts as the operator reads them, for the change feed. */
export async function readContacts(db: Db, ids: readonly string[]): Promise<Contact[]> {
  return (await db.query<Contact>(`select ${COLUMNS} from contacts c where c.contact_id = any($1)`, [ids])).rows;
}

import { Type } from 'typebox';
import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import { type Db, first, one, type Transaction } from '../../database/database.ts';
import {
  chosen,
  hidden,
  type Input,
  initially,
  optional,
  RecordKind,
  required,
  type Shown,
} from '../../database/record.ts';
import { insertRow, type List, type ListRequest, listRows, nextId, updateRow } from '../../database/rows.ts';
import type { Vault } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { LANGUAGES } from '../../values/language.ts';
import { ClientId, closed, EmailAddress, Id, Name, Nullable, PATTERNS } from '../../values/schemas.ts';
import { liftLocks, lockedUntil, passwordSubject, secondFactorSubject } from '../attempt-limit.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../sign-in/password.ts';
import { PERMISSIONS, type Permission, permissionsGiven, permissionsOf } from './permission.ts';

/** The most clients for which one contact can act. */
const MAX_CLIENTS_OF_CONTACT = 1_000;

const GIVEN_CLIENTS = Type.Array(
  Type.Object(
    { client_id: ClientId, permissions: Type.Optional(Type.Array(Type.Enum([...PERMISSIONS]), { uniqueItems: true })) },
    closed,
  ),
  {
    maxItems: MAX_CLIENTS_OF_CONTACT,
    description: 'The clients it acts for; default of `permissions`: the five that do not order',
  },
);
const SHOWN_CLIENTS = Type.Array(
  Type.Object({ client_id: Type.String(), permissions: Type.Array(Type.Enum([...PERMISSIONS])) }),
);
const EMAIL = EmailAddress('Unique, ignoring case');

/** A person who signs in and acts for one or more clients. */
export const CONTACT = new RecordKind({
  table: 'contacts c',
  id: 'contact_id',
  fields: {
    contact_id: chosen(Id('Chosen by the core; default: a new one')),
    name: required(Name('Name')),
    email: required(EMAIL),
    /** As a hash, which `hashPassword` makes before the transaction, because it takes 20 ms of a core. */
    password: hidden(Type.String({ minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH }), {
      elsewhere: 'c.password_hash',
    }),
    phone: optional(Type.String({ pattern: PATTERNS.phone })),
    status: initially(Type.Enum(['enabled', 'disabled']), 'enabled'),
    second_factor: initially(Type.Enum(['none', 'totp', 'sms']), 'none'),
    trusted_access: initially(
      Type.Boolean({ description: 'An institution may get tokens for it over mutual TLS' }),
      false,
    ),
    language: optional(
      Type.Enum([...LANGUAGES], {
        description: 'Of its mails and pages; null: English, and what its browser asks for',
      }),
      { shown: Nullable(Type.Enum([...LANGUAGES], { description: 'Of mails and pages' })) },
    ),
    approval_mails: initially(
      Type.Boolean({ description: 'It is told by mail of payments that wait for it; default: yes' }),
      true,
      { shown: Type.Boolean({ description: 'It is told of payments by mail' }) },
    ),
    clients: required(GIVEN_CLIENTS, {
      shown: SHOWN_CLIENTS,
      elsewhere: `coalesce((select json_agg(json_build_object('client_id', cc.client_id, 'permissions', ${permissionsOf('cc')})
        order by cc.client_id) from contact_clients cc where cc.contact_id = c.contact_id), '[]')`,
    }),
  },
});
export type Contact = Shown<typeof CONTACT>;
/** A contact with the hash of its password, and the secret of an authenticator that is set up for it. */
export type ContactInput = Omit<Input<typeof CONTACT>, 'password'> & {
  passwordHash?: string | null | undefined;
  totpSecret?: string | undefined;
};

/** Creates a contact. The TOTP secret is stored encrypted. @throws Problem already_exists, client_not_found, invalid_body */
export async function createContact(tx: Transaction, act: Act, vault: Vault, input: ContactInput): Promise<Contact> {
  const contactId = input.contact_id ?? (await nextId(tx, 'contact'));
  if (input.second_factor === 'sms' && !input.phone)
    throw new Problem('invalid_body', { field: 'phone', message: 'is required where second_factor is sms' });
  const row = {
    ...CONTACT.stored(input),
    contact_id: contactId,
    password_hash: input.passwordHash ?? null,
    totp_secret: input.totpSecret ? vault.seal(input.totpSecret, 'totp_secret') : null,
    created_at: act.now,
  };
  await insertRow(tx, 'contacts', row, { returning: 'contact_id' });
  await setClients(tx, contactId, input.clients);
  const contact = await findContact(tx, contactId);
  audit(tx, act, { action: 'create', entity: 'contact', entityId: contactId, after: contact });
  return contact;
}

/**
 * Changes the fields in the patch. `clients` replaces the whole list.
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
      ...CONTACT.changes(patch),
      password_hash: patch.passwordHash,
      totp_secret: patch.totpSecret ? vault.seal(patch.totpSecret, 'totp_secret') : undefined,
    },
    returning: 'contact_id',
  });
  if (patch.clients) await setClients(tx, contactId, patch.clients);
  const contact = await findContact(tx, contactId);
  if (patch.passwordHash) await liftLockOut(tx, contact);
  const { second_factor: factor, phone: number } = contact;
  if (before.second_factor !== factor || before.phone !== number || patch.totpSecret)
    await endOpenSignIns(tx, contactId);
  audit(tx, act, {
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

/** What an erased person ordered and approved keeps the id of its contact. So nobody else may ever act as that contact. */
async function refuseErased(tx: Transaction, contactId: string): Promise<void> {
  const { rows } = await tx.query('select from erasures where contact_id = $1', [contactId]);
  if (rows.length > 0)
    throw new Problem('transition_not_allowed', {
      field: 'status',
      message: 'must stay disabled: the person was erased. Create another contact',
    });
}

/** A code that was sent or requested before the second factor changed must not sign anybody in: the lost phone could finish what it began. */
async function endOpenSignIns(tx: Transaction, contactId: string): Promise<void> {
  await tx.query('delete from second_factor_challenges where contact_id = $1', [contactId]);
}

/** The clients whose payments a contact may authorise. */
export function authorisesFor({ status, clients }: Pick<Contact, 'status' | 'clients'>): Set<string> {
  if (status !== 'enabled') return new Set();
  const may = clients.filter(({ permissions }) => permissions.includes('can_authorise_payments'));
  return new Set(may.map((client) => client.client_id));
}

/** Until when a contact cannot sign in after too many wrong guesses. */
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

/** Lets a contact sign in again at once after too many wrong guesses. @throws Problem contact_not_found */
export async function unlockContact(tx: Transaction, act: Act, contactId: string): Promise<void> {
  const contact = await findContact(tx, contactId);
  await liftLockOut(tx, contact);
  audit(tx, act, { action: 'update', entity: 'contact', entityId: contactId, after: { unlocked: true } });
}

/** Lifts the locks of the password and of the second factor. */
async function liftLockOut(tx: Transaction, { contact_id: contactId }: Contact): Promise<void> {
  const email = await emailInSmallLetters(tx, contactId);
  await liftLocks(tx, [passwordSubject(email), secondFactorSubject(contactId)]);
}

/** The email in PostgreSQL's lower case, by which sign-in attempts are counted. */
async function emailInSmallLetters(db: Db, contactId: string): Promise<string> {
  const found = await db.query<{ email: string }>('select lower(email) as email from contacts where contact_id = $1', [
    contactId,
  ]);
  return one(found).email;
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
  const may = (permission: Permission) => clients.map((client) => permissionsGiven(client).includes(permission));
  await tx.query(
    `insert into contact_clients (contact_id, client_id, ${PERMISSIONS.join(', ')})
     select $1, * from unnest($2::text[], ${PERMISSIONS.map((_, index) => `$${index + 3}::boolean[]`).join(', ')})
     on conflict (client_id, contact_id) do update set ${PERMISSIONS.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    [contactId, ids, ...PERMISSIONS.map(may)],
  );
}

/** A contact with its clients and permissions. @throws Problem contact_not_found, which names `field` */
export async function findContact(db: Db, contactId: string, field = 'contact_id'): Promise<Contact> {
  const contact = first(
    await db.query<Contact>(`select ${CONTACT.select} from ${CONTACT.table} where c.contact_id = $1`, [contactId]),
  );
  if (!contact) throw new Problem('contact_not_found', { field, message: 'does not exist' });
  return contact;
}

/** A page of contacts: all, those of one client, or the one with an email, regardless of case. */
export function listContacts(
  db: Db,
  request: ListRequest & { email?: string | undefined; status?: string | undefined },
): Promise<List<Contact>> {
  const { email, clientId, status } = request;
  const filters = [
    ['exists (select from contact_clients m where m.contact_id = c.contact_id and m.client_id = ?)', clientId],
    ['lower(c.email) = lower(?)', email],
    ['c.status = ?', status],
  ] as const;
  return listRows(db, { select: CONTACT.select, from: CONTACT.table, order: 'c.contact_id', filters }, request);
}

/** Contacts in the form that the operator reads, for the change feed. */
export async function readContacts(db: Db, ids: readonly string[]): Promise<Contact[]> {
  return (await db.query<Contact>(`select ${CONTACT.select} from ${CONTACT.table} where c.contact_id = any($1)`, [ids]))
    .rows;
}

/** The names of contacts. They exist once, while the records that name them may be in a cell on another server. */
export async function contactNames(db: Db, contactIds: readonly string[]): Promise<Map<string, string>> {
  if (contactIds.length === 0) return new Map();
  const { rows } = await db.query<{ contact_id: string; name: string }>({
    name: 'contact-names',
    text: 'select contact_id, name from contacts where contact_id = any($1)',
    values: [contactIds],
  });
  return new Map(rows.map(({ contact_id: id, name }) => [id, name]));
}

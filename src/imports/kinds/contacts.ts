import { availableParallelism } from 'node:os';
import { refreshApprovers } from '../../approvals/refresh.ts';
import { type Columns, copyRows } from '../../database/copy.ts';
import type { Transaction } from '../../database/database.ts';
import type { Input, Stored } from '../../database/record.ts';
import { authorisesFor, CONTACT, type Contact, updateContact } from '../../identity/people/contact.ts';
import { PERMISSIONS, type Permission, permissionsGiven, permissionsOf } from '../../identity/people/permission.ts';
import { existingClients } from '../../identity/people/tenant.ts';
import { hashPassword, verifyPassword } from '../../identity/sign-in/password.ts';
import { Problem, refusalOf } from '../../values/errors.ts';
import { present } from '../../values/unknown.ts';
import { resolveIds } from '../identifiers.ts';
import { type Comparison, type ImportKind, type ImportRow, type ImportScope, Refusals } from '../kind.ts';

type ImportedContact = Input<typeof CONTACT>;

interface ContactImportRow extends ImportRow<ImportedContact> {
  stored: Stored;
  passwordHash: string | null;
}

interface MembershipRow {
  clientId: string;
  contactId: string | undefined;
  permissions: readonly Permission[];
}

const MEMBERSHIP_COLUMNS: Columns<MembershipRow> = {
  client_id: ({ clientId }) => clientId,
  contact_id: ({ contactId }) => contactId,
  ...Object.fromEntries(
    PERMISSIONS.map((permission) => [permission, ({ permissions }: MembershipRow) => permissions.includes(permission)]),
  ),
};

const COMPARISON: Comparison = {
  ...CONTACT.comparison,
  table: 'contacts',
  fields: {
    ...CONTACT.comparison.fields,
    password: 't.password_hash',
    clients: `(select coalesce(json_agg(json_build_object('client_id', cc.client_id, 'permissions', ${permissionsOf('cc')})), '[]')
      from contact_clients cc where cc.contact_id = t.contact_id)`,
  },
  forms: { ...CONTACT.comparison.forms, clients: (clients) => membershipText(clients as ImportedContact['clients']) },
  matches: { password: (given, stored) => verifyPassword(stored as string | null, given as string) },
};

function membershipText(clients: ImportedContact['clients']): string {
  const texts = clients.map((client) => `${client.client_id} ${[...permissionsGiven(client)].sort().join()}`);
  return texts.sort().join('\n');
}

/** Contacts (docs/imports.md). Hashing a password takes about 25 ms of a core, so batches are small. */
export const contactImport: ImportKind<ImportedContact, ContactImportRow> = {
  entity: 'contact',
  batchRows: 500,
  comparison: COMPARISON,
  update: { fixed: CONTACT.fixed, write: updateContacts },

  read(line, input) {
    if (input.second_factor === 'sms' && !input.phone)
      throw new Problem('invalid_body', { field: 'phone', message: 'is required where second_factor is sms' });
    if (input.second_factor === 'totp') {
      throw new Problem('invalid_body', {
        field: 'second_factor',
        message: 'must not be totp in an import: the answer of the single call shows the secret once',
      });
    }
    const ids = (input.clients ?? []).map((client) => client.client_id);
    const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
    if (twice >= 0)
      throw new Problem('invalid_body', { field: `clients[${twice}].client_id`, message: 'is named twice' });
    return { line, input, id: input.contact_id, stored: CONTACT.stored(input), passwordHash: null };
  },

  prepare: hashPasswords,

  async check(tx, rows) {
    const refusals = new Refusals();
    const clients = await existingClients(tx, clientIds(rows));
    for (const { line, input } of rows) {
      const unknown = input.clients.findIndex((client) => !clients.has(client.client_id));
      if (unknown >= 0) {
        const field = `clients[${unknown}].client_id`;
        refusals.refuse(line, 'client_not_found', { field, message: 'does not exist' });
      }
    }
    await checkEmails(tx, rows, refusals);
    await resolveIds(tx, rows, refusals, 'contact');
    return refusals;
  },

  async insert(tx, rows, { act, notify }) {
    const columns = CONTACT.copied<ContactImportRow>({
      contact_id: ({ id }) => id,
      password_hash: ({ passwordHash }) => passwordHash,
      created_at: () => act.now,
    });
    await copyRows(tx, 'contacts', columns, rows);
    const memberships = rows.flatMap(({ id, input }) =>
      input.clients.map((client) => ({
        clientId: client.client_id,
        contactId: id,
        permissions: permissionsGiven(client),
      })),
    );
    await copyRows(tx, 'contact_clients', MEMBERSHIP_COLUMNS, memberships);
    // New contacts may be approvers of payments that are already pending.
    await refreshApprovers(
      tx,
      { ...act, quiet: !notify },
      ...new Set(rows.flatMap(({ input }) => [...authorisesFor(withDefaults(input))])),
    );
  },
};

async function updateContacts(
  tx: Transaction,
  rows: ContactImportRow[],
  { act, vault, notify }: ImportScope,
): Promise<void> {
  const touched = new Set<string>();
  for (const { id, input, passwordHash } of rows) {
    const { password, ...fields } = input;
    const patch = { ...fields, ...(password !== undefined && { passwordHash }) };
    const { touchedClients } = await updateContact(tx, act, vault, { contactId: id as string, patch });
    for (const clientId of touchedClients) touched.add(clientId);
  }
  await refreshApprovers(tx, { ...act, quiet: !notify }, ...touched);
}

function withDefaults({ status = 'enabled', clients }: ImportedContact): Pick<Contact, 'status' | 'clients'> {
  return {
    status,
    clients: clients.map((client) => ({ client_id: client.client_id, permissions: [...permissionsGiven(client)] })),
  };
}

function clientIds(rows: ContactImportRow[]): string[] {
  return rows.flatMap(({ input }) => input.clients.map((client) => client.client_id));
}

/** Hashes the passwords of a batch, at most one for each core at a time. Refuses passwords that are too weak. */
async function hashPasswords(rows: ContactImportRow[]): Promise<Refusals> {
  const refusals = new Refusals();
  const open = rows.filter(({ input }) => input.password !== undefined).values();
  const worker = async () => {
    for (const row of open) {
      const hash = await hashPassword(present(row.input.password)).catch(refusalOf);
      if (hash instanceof Problem) refusals.set(row.line, hash);
      else row.passwordHash = hash;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return refusals;
}

/** An email belongs to one contact, regardless of case. It is compared in the same way as by the database's index. */
async function checkEmails(tx: Transaction, rows: ContactImportRow[], refusals: Refusals): Promise<void> {
  const found = await tx.query<{ key: string; taken: boolean }>(
    `select lower(u.email) as key, exists (select from contacts c where lower(c.email) = lower(u.email)) as taken
     from unnest($1::text[]) with ordinality as u(email, n) order by u.n`,
    [rows.map(({ input }) => input.email)],
  );
  const earlier = new Set<string>();
  found.rows.forEach(({ key, taken }, index) => {
    const line = rows[index]?.line ?? 0;
    if (refusals.has(line)) return;
    if (taken || earlier.has(key))
      refusals.refuse(line, 'already_exists', { field: 'email', message: 'is already in use' });
    earlier.add(key);
  });
}

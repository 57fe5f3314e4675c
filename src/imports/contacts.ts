import { availableParallelism } from 'node:os';
import { refreshApprovers } from '../approvals/workflow.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { type ContactGiven, PERMISSIONS } from '../identity/contact.ts';
import { hashPassword } from '../identity/password.ts';
import { copyRows } from './copy.ts';
import { type ImportKind, type Numbered, Refusals } from './kind.ts';
import { findClients, nextIds, settleIds } from './lookups.ts';

export interface ImportedContact extends Omit<ContactGiven, 'passwordHash' | 'totpSecret'> {
  password?: string;
}

export interface ContactRow {
  given: ImportedContact;
  contactId: string | undefined;
  passwordHash: string | null;
}

const COLUMNS = [
  'contact_id',
  'name',
  'email',
  'password_hash',
  'phone',
  'status',
  'second_factor',
  'trusted_access',
  'created_at',
] as const;

/**
 * Contacts (docs/imports.md). A password costs about 25 ms of a core to hash, whoever asks for it: batches are small, and
 * at most one hash for each core is under way.
 */
export const contactImport: ImportKind<ImportedContact, ContactRow> = {
  entity: 'contact',
  batchLines: 500,

  read(given) {
    if (given.second_factor === 'sms' && !given.phone)
      throw new Problem('invalid_body', { field: 'phone', message: 'is required where second_factor is sms' });
    if (given.second_factor === 'totp') {
      throw new Problem('invalid_body', {
        field: 'second_factor',
        message: 'totp takes the single call, whose answer shows the secret once',
      });
    }
    const ids = given.clients.map((client) => client.client_id);
    const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
    if (twice >= 0)
      throw new Problem('invalid_body', { field: `clients[${twice}].client_id`, message: 'is named twice' });
    return { given, contactId: given.contact_id, passwordHash: null };
  },

  async prepare(rows) {
    const refusals = new Refusals();
    const open = rows.filter(({ row }) => row.given.password !== undefined).values();
    const worker = async () => {
      for (const { line, row } of open) {
        try {
          row.passwordHash = await hashPassword(row.given.password as string);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          refusals.set(line, error);
        }
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
    return refusals;
  },

  async check(tx, rows) {
    const refusals = new Refusals();
    const clients = await findClients(
      tx,
      rows.flatMap(({ row }) => row.given.clients.map((client) => client.client_id)),
    );
    for (const { line, row } of rows) {
      const unknown = row.given.clients.findIndex((client) => !clients.has(client.client_id));
      if (unknown >= 0)
        refusals.refuse(line, 'client_not_found', { field: `clients[${unknown}].client_id`, message: 'is no client' });
    }
    await refuseEmails(tx, rows, refusals);
    await settleIds(
      tx,
      rows,
      refusals,
      { name: 'contacts', column: 'contact_id' },
      {
        get: (row) => row.contactId,
        set: (row, id) => {
          row.contactId = id;
        },
      },
      (count) => nextIds(tx, 'contact_numbers', 'CON', count),
    );
    return refusals;
  },

  async insert(tx, rows, { act }) {
    await copyRows(
      tx,
      'contacts',
      COLUMNS,
      rows.map(({ row: { given, contactId, passwordHash } }) => [
        contactId,
        given.name,
        given.email,
        passwordHash,
        given.phone,
        given.status ?? 'enabled',
        given.second_factor ?? 'none',
        given.trusted_access ?? false,
        act.now,
      ]),
    );
    const members = rows.flatMap(({ row }) =>
      row.given.clients.map((client) => [
        client.client_id,
        row.contactId,
        ...PERMISSIONS.map((permission) => (client.permissions ?? PERMISSIONS).includes(permission)),
      ]),
    );
    await copyRows(tx, 'contact_clients', ['client_id', 'contact_id', ...PERMISSIONS], members);
    // New contacts may be approvers of payments that are pending already.
    await refreshApprovers(
      tx,
      ...new Set(rows.flatMap(({ row }) => row.given.clients.map((client) => client.client_id))),
    );
  },
};

/** An email belongs to one contact, whatever its case; compared as the database's index does. */
async function refuseEmails(tx: Transaction, rows: Numbered<ContactRow>[], refusals: Refusals): Promise<void> {
  const found = await tx.query<{ n: number; key: string; taken: boolean }>(
    `select u.n, lower(u.email) as key, exists (select from contacts c where lower(c.email) = lower(u.email)) as taken
     from unnest($1::text[]) with ordinality as u(email, n) order by u.n`,
    [rows.map(({ row }) => row.given.email)],
  );
  const earlier = new Set<string>();
  found.rows.forEach(({ key, taken }, index) => {
    const line = rows[index]?.line ?? 0;
    if (refusals.has(line)) return;
    if (taken || earlier.has(key)) refusals.refuse(line, 'already_exists', { field: 'email', message: 'is in use' });
    earlier.add(key);
  });
}

import { randomUUID } from 'node:crypto';
import type { Act } from '../audit/act.ts';
import { audit, auditOf } from '../audit/record.ts';
import { withinCell } from '../database/cells/connection.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { findContact } from '../identity/people/contact.ts';
import type { Vault } from '../values/crypto.ts';
import { Problem } from '../values/errors.ts';
import { withKnown } from './former-names.ts';
import { ERASED, erasedEmail, type Person, personIn } from './person.ts';

/** The most rows of the trail that are read for a person's former names and addresses. */
const MAX_HISTORY_ROWS = 10_000;
export const PURPOSE = 'erasure';
const NOBODY = { names: [], emails: [], phones: [] };

/** The progress of an erasure. */
export interface Erasure {
  state: 'running' | 'done';
  started_at: Date;
  ended_at: Date | null;
  /** The number of rows that were replaced so far. */
  rows: number;
}

/** @throws Problem erasure_not_found */
export async function findErasure(db: Db, erasureId: string): Promise<Erasure> {
  const row = first(
    await db.query<Erasure>('select state, started_at, ended_at, rows from erasures where erasure_id::text = $1', [
      erasureId,
    ]),
  );
  if (!row) throw new Problem('erasure_not_found', { field: 'erasure_id', message: 'does not name an erasure' });
  return row;
}

/**
 * Erases a disabled contact, and begins to erase the copies elsewhere (docs/erasure.md). A second call returns the same erasure.
 * @throws Problem contact_not_found, contact_not_disabled
 */
export async function eraseContact(
  tx: Transaction,
  act: Act,
  { vault, contactId }: { vault: Vault; contactId: string },
): Promise<{ erasure_id: string }> {
  await tx.query('select from contacts where contact_id = $1 for no key update', [contactId]);
  const contact = await findContact(tx, contactId);
  const known = first(
    await tx.query<{ erasure_id: string; sealed: Buffer | null }>(
      'select erasure_id, sealed from erasures where contact_id = $1',
      [contactId],
    ),
  );
  // A contact that has got a name again is erased again.
  if (known && contact.name === ERASED && contact.email === erasedEmail(contactId))
    return { erasure_id: known.erasure_id };
  if (contact.status !== 'disabled')
    throw new Problem('contact_not_disabled', { field: 'contact_id', message: 'must be disabled first: PATCH status' });
  const { name, email, phone } = contact;
  // An erasure in progress may be all that still knows the former names.
  const former = known?.sealed ? personIn(vault.open(known.sealed, PURPOSE)) : NOBODY;
  const now = withKnown({ ...former, contactId }, [{ name, email, phone }]);
  // Most of the trail of contacts is in the first cell. The job adds what the others know.
  const person = await withinCell(tx, 0, () => withHistory(tx, now));
  const erasureId = known?.erasure_id ?? randomUUID();
  await tx.query(
    `insert into erasures as e (erasure_id, contact_id, state, sealed, started_at, rows) values ($1, $2, 'running', $3, $4, 1)
     on conflict (erasure_id) do update set state = 'running', sealed = excluded.sealed, ended_at = null, rows = e.rows + 1`,
    [erasureId, contactId, vault.seal(JSON.stringify(person), PURPOSE), act.now],
  );
  await tx.query(
    `update contacts set name = $2, email = $3, phone = null, password_hash = null, totp_secret = null, second_factor = 'none'
     where contact_id = $1`,
    [contactId, ERASED, erasedEmail(contactId)],
  );
  await endSessions(tx, contactId, act.now);
  await tx.query(
    'delete from password_requests where email in (select lower(u.email) from unnest($1::text[]) as u(email))',
    [person.emails],
  );
  audit(tx, act, {
    action: 'action',
    entity: 'contact',
    entityId: contactId,
    after: { action: 'erase', erasure_id: erasureId },
  });
  return { erasure_id: erasureId };
}

/** A person with all names, addresses and numbers that the trail of a cell knows. */
export async function withHistory(db: Db, person: Person): Promise<Person> {
  const { contactId } = person;
  const trail = await auditOf(db, { entity: 'contact', entityId: contactId, limit: MAX_HISTORY_ROWS });
  return withKnown(
    person,
    trail.flatMap(({ before, after }) => [before ?? {}, after ?? {}]),
  );
}

async function endSessions(tx: Transaction, contactId: string, now: Date): Promise<void> {
  await tx.query('update grants set revoked_at = $2 where contact_id = $1 and revoked_at is null', [contactId, now]);
  await tx.query('update browser_sessions set ended_at = $2 where contact_id = $1 and ended_at is null', [
    contactId,
    now,
  ]);
  await tx.query('delete from second_factor_challenges where contact_id = $1', [contactId]);
  await tx.query('delete from page_sessions where contact_id = $1', [contactId]);
  await tx.query('delete from password_links where contact_id = $1', [contactId]);
  await tx.query('delete from recovery_codes where contact_id = $1', [contactId]);
  await tx.query('delete from authorization_codes where contact_id = $1 and used_at is null', [contactId]);
}

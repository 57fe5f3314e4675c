import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import type { Context } from '../../context.ts';
import { type Db, first, type Transaction, transaction } from '../../database/database.ts';
import { randomToken, sha256 } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { hasControlCharacter } from '../parameters.ts';
import { findContact, updateContact } from '../people/contact.ts';
import { hashPassword } from './password.ts';
import { MAX_EMAIL_LENGTH } from './sign-in.ts';

/** The lifetime of a link in seconds, from when its mail is written: for a forgotten password, and for choosing the first one. */
export const LINK_LIFETIME_SECONDS = { password: 1_800, invitation: 259_200 } as const;
/** The most links for one address within an hour. */
const MAX_LINKS_AN_HOUR = 3;
/** The number of requests that one transaction handles. */
const MAX_REQUESTS_AT_ONCE = 100;

/**
 * Records that somebody has forgotten the password for an address. The caller learns nothing about the address, not even from the time it
 * takes. `gatherRequests` finds out later whether it belongs to a contact.
 */
export async function requestPasswordLink(db: Db, email: string, now: Date): Promise<void> {
  const address = email.normalize('NFC').trim();
  const plausible = address.length <= MAX_EMAIL_LENGTH && !hasControlCharacter(address);
  await db.query('insert into password_requests (email, at) values (lower($1), $2)', [plausible ? address : '', now]);
}

/**
 * Makes a mail for each new request of a contact who has a password, at most three an hour for an address. Only the process that sends
 * mails may call it.
 */
export async function gatherRequests(tx: Transaction): Promise<void> {
  const { rows } = await tx.query<{ id: number; email: string; at: Date }>(
    `select id, email, at from password_requests where mailed is null order by id limit ${MAX_REQUESTS_AT_ONCE} for update`,
  );
  for (const { id, email, at } of rows) {
    await tx.query(
      `with wanted as (
         select k.contact_id from contacts k
         where lower(k.email) = $2 and k.status = 'enabled' and k.password_hash is not null and (select count(*) from password_requests r
           where r.email = $2 and r.mailed and r.at > $3::timestamptz - interval '1 hour' and r.at <= $3) < ${MAX_LINKS_AN_HOUR}
       ), mailed as (
         insert into mails (kind, contact_id, created_at, due_at) select 'password', contact_id, $3, $3 from wanted returning id
       )
       update password_requests set mailed = exists (select from mailed) where id = $1`,
      [id, email, at],
    );
  }
}

/**
 * Mails a contact a link with which it chooses a password and signs in.
 * @throws Problem contact_not_found; transition_not_allowed if the contact is disabled
 */
export async function inviteContact(tx: Transaction, act: Act, contactId: string): Promise<void> {
  const contact = await findContact(tx, contactId);
  if (contact.status !== 'enabled')
    throw new Problem('transition_not_allowed', { field: 'contact_id', message: 'the contact is disabled' });
  await tx.query(`insert into mails (kind, contact_id, created_at, due_at) values ('invitation', $1, $2, $2)`, [
    contactId,
    act.now,
  ]);
  audit(tx, act, { action: 'update', entity: 'contact', entityId: contactId, after: { invited: true } });
}

/**
 * A new link of a contact, for a mail. Its previous link ends.
 * @returns its token, of which only the hash is stored; undefined if a newer mail already has a link
 */
export async function createPasswordLink(
  db: Db,
  mail: { id: number; contact_id: string; kind: keyof typeof LINK_LIFETIME_SECONDS },
  now: Date,
): Promise<string | undefined> {
  const token = randomToken();
  const made = await db.query(
    `insert into password_links as l (token_sha256, contact_id, mail_id, email, expires_at)
     select $1, contact_id, $3, lower(email), $4 from contacts where contact_id = $2
     on conflict (contact_id) do update set token_sha256 = excluded.token_sha256, mail_id = excluded.mail_id, email = excluded.email,
       expires_at = excluded.expires_at where l.mail_id <= excluded.mail_id`,
    [sha256(token), mail.contact_id, mail.id, new Date(now.getTime() + LINK_LIFETIME_SECONDS[mail.kind] * 1_000)],
  );
  return made.rowCount === 1 ? token : undefined;
}

/** A valid link: the contact is enabled, and its address is still the one that the mail was sent to. */
const GOOD = `from password_links l join contacts k on k.contact_id = l.contact_id and k.status = 'enabled' and lower(k.email) = l.email
  where l.token_sha256 = $1 and l.expires_at > $2`;

/** Whether a link is valid now. Asking does not use it up. */
export async function isGoodLink(db: Db, token: string, now: Date): Promise<boolean> {
  return (await db.query(`select ${GOOD}`, [sha256(token), now])).rows.length > 0;
}

/**
 * Sets a new password with a link, which is used up. The second factor stays, a lock is lifted, and every session and refresh token of the
 * contact ends.
 * @returns undefined if the link is not valid; otherwise whether it is the contact's first password
 * @throws Problem invalid_body, which names `password`; the link can then be used again
 */
export async function setPasswordByLink(
  { pool, vault, clock }: Context,
  { token, password, requestId }: { token: string; password: string; requestId: string },
): Promise<{ isFirst: boolean } | undefined> {
  if (!(await isGoodLink(pool, token, clock.now()))) return undefined;
  const passwordHash = await hashPassword(password);
  return transaction(pool, async (tx) => {
    const now = clock.now();
    const link = first(
      await tx.query<{ contact_id: string; is_first: boolean }>(
        `select l.contact_id, k.password_hash is null as is_first ${GOOD} for update of l`,
        [sha256(token), now],
      ),
    );
    if (!link) return undefined;
    const act: Act = { now, actor: `contact:${link.contact_id}`, requestId };
    await tx.query('delete from password_links where contact_id = $1', [link.contact_id]);
    await updateContact(tx, act, vault, { contactId: link.contact_id, patch: { passwordHash } });
    return { isFirst: link.is_first };
  });
}

import { lockIn } from '../database/cells/connection.ts';
import type { Db, Transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import type { Logo } from '../settings/institution.ts';
import type { Language } from '../values/language.ts';

/** Seconds between two mails to one person about waiting payments. */
const MIN_INTERVAL_SECONDS = 900;

/** A mail that is due, with its reader. */
export interface DueMail {
  id: number;
  kind: 'waiting' | 'rejection' | 'password' | 'invitation';
  contact_id: string;
  /** Only for a rejection. */
  client_id: string | null;
  payment_id: number | null;
  created_at: Date;
  /** The number of attempts, including this one. */
  attempts: number;
  name: string;
  email: string;
  language: Language;
  /** Whether the person gets mails about payments. */
  approval_mails: boolean;
  enabled: boolean;
}

/** The contents of a mail. */
export interface WrittenMail {
  subject: string;
  text: string;
  html: string;
  /** The logo, if the HTML shows it. */
  logo: Logo | undefined;
}

/**
 * Makes a mail for each person with payments that it was not told about, if its last such mail is old enough.
 * @param wanted false: nobody is told, and what waits now is forgotten (LOMBARD_APPROVAL_MAILS)
 * @returns whether somebody has to wait for the next mail
 */
export async function gatherNotices(tx: Transaction, now: Date, wanted: boolean): Promise<boolean> {
  // A lock for each cell, so that a cell that gives no answer blocks only its own.
  await tx.query('select pg_advisory_xact_lock($1)', [lockIn(tx, LOCKS.mailNotices)]);
  const waiting = await tx.query<{ contact_id: string }>(
    'select distinct contact_id from payment_notices where mail_id is null',
  );
  if (waiting.rows.length === 0) return false;
  const people = await tx.query<{ contact_id: string; told: boolean; enabled: boolean; early: boolean }>(
    `select contact_id, $2 and approval_mails as told, status = 'enabled' as enabled, exists (
       select from mails m where m.contact_id = k.contact_id and m.kind = 'waiting' and m.state <> 'dropped'
         and m.created_at > $3::timestamptz - make_interval(secs => ${MIN_INTERVAL_SECONDS}) and m.created_at <= $3) as early
     from contacts k where contact_id = any($1)`,
    [waiting.rows.map((row) => row.contact_id), wanted, now],
  );
  const untold = people.rows.filter(({ told }) => !told).map((row) => row.contact_id);
  if (untold.length > 0)
    await tx.query('delete from payment_notices where mail_id is null and contact_id = any($1)', [untold]);
  const able = people.rows.filter(({ told, enabled }) => told && enabled);
  const ready = able.filter(({ early }) => !early).map((row) => row.contact_id);
  if (ready.length > 0) await makeNotices(tx, now, ready);
  return ready.length < able.length;
}

/** Makes the mails for people who may still approve a payment that they were not told about. */
async function makeNotices(tx: Transaction, now: Date, ready: string[]): Promise<void> {
  const approving = await tx.query<{ contact_id: string }>(
    `select distinct n.contact_id from payment_notices n
     join payment_approvers a on a.client_id = n.client_id and a.payment_id = n.payment_id and a.contact_id = n.contact_id
     where n.contact_id = any($1) and n.mail_id is null and a.may_authorise`,
    [ready],
  );
  const made = await tx.query<{ id: number; contact_id: string }>(
    `insert into mails (kind, contact_id, created_at, due_at) select 'waiting', contact_id, $2, $2 from unnest($1::text[]) as u(contact_id)
     returning id, contact_id`,
    [approving.rows.map((row) => row.contact_id), now],
  );
  await tx.query(
    `update payment_notices n set mail_id = m.id from unnest($1::bigint[], $2::text[]) as m(id, contact_id)
     where n.contact_id = m.contact_id and n.mail_id is null`,
    [made.rows.map((row) => row.id), made.rows.map((row) => row.contact_id)],
  );
}

/**
 * Begins an attempt for due mails, at most one for each person, so that a person's mails leave in order. Only the process that holds the
 * mails' lock may call it.
 * @param busy people with a mail in flight
 */
export async function takeDue(
  db: Db,
  now: Date,
  { busy, limit }: { busy: string[]; limit: number },
): Promise<DueMail[]> {
  const { rows } = await db.query<DueMail>(
    `update mails m set attempts = m.attempts + 1
     from contacts k
     where k.contact_id = m.contact_id
       and m.id in (select id from (select distinct on (contact_id) id, due_at from mails
         where state = 'due' and due_at <= $1 and contact_id <> all($2) order by contact_id, id) n order by due_at, id limit $3)
     returning m.id, m.kind, m.contact_id, m.client_id, m.payment_id, m.created_at, m.attempts, k.name, k.email,
       coalesce(k.language, 'en') as language, k.approval_mails and k.status = 'enabled' as approval_mails,
       k.status = 'enabled' as enabled`,
    [now, busy, limit],
  );
  return rows;
}

/** Records how an attempt ended. @param outcome `due`: when the next one is made; undefined: there is none */
export async function recordOutcome(
  db: Db,
  id: number,
  outcome: { state: 'due' | 'sent' | 'failed' | 'dropped'; reason?: string; due?: Date; now: Date },
): Promise<void> {
  const { state, reason, due, now } = outcome;
  await db.query(
    `update mails set state = $2, last_error = $3, due_at = coalesce($4, due_at), ended_at = $5 where id = $1 and state = 'due'`,
    [id, state, reason ?? null, due ?? null, state === 'due' ? null : now],
  );
}

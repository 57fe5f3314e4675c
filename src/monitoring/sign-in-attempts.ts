import type { Db, Pool } from '../database/database.ts';
import { type List, type ListRequest, listRows } from '../database/rows.ts';
import type { Logger } from '../process/log.ts';
import type { Clock } from '../values/calendar.ts';
import { clearJournal, Journal } from './journal.ts';

/** Days that an attempt is kept (docs/operator-interface.md, Find out what happened). */
const KEPT_DAYS = 90;
const DAY_MS = 86_400_000;
const TABLE = 'sign_in_attempts';
const COLUMNS = 'at, outcome, contact_id, email, application, address, request_id';

/**
 * The outcomes of an attempt. `second_factor_required` is a correct password whose second factor is still to come. A disabled contact is
 * `disabled` whatever the password was.
 */
export const SIGN_IN_OUTCOMES = [
  'ok',
  'wrong_password',
  'disabled',
  'locked',
  'second_factor_required',
  'second_factor_failed',
  'second_factor_expired',
] as const;
export type SignInOutcome = (typeof SIGN_IN_OUTCOMES)[number];

/** A person's attempt to sign in. */
export interface SignInAttempt {
  outcome: SignInOutcome;
  /** Null if only the email is known. The contact with this email is looked up. */
  contact_id: string | null;
  /** As it was typed; null if the contact is known. */
  email: string | null;
  /** The client_id of the application. */
  application: string | null;
  /** The address that it came from, as far as the proxies in LOMBARD_PROXIES vouch for it. */
  address: string;
  request_id: string;
}

/** The journal of attempts to sign in. */
export class SignInAttempts extends Journal<SignInAttempt> {
  constructor(pool: Pool, clock: Clock, log: Logger) {
    // Some people type their password in the field for the email, so a text without an at sign is not kept.
    const insert = `insert into ${TABLE} (${COLUMNS})
      select a.at, case when a.outcome = 'wrong_password' and k.status = 'disabled' then 'disabled' else a.outcome end,
        k.contact_id, coalesce(case when a.email like '%@%' then a.email end, k.email), a.application, a.address, a.request_id
      from json_populate_recordset(null::${TABLE}, $1) a
      left join contacts k on k.contact_id = a.contact_id or a.contact_id is null and lower(k.email) = lower(a.email)`;
    super({ table: TABLE, insert, pool, clock, log });
  }
}

export interface SignInFilter extends Omit<ListRequest, 'clientId'> {
  contactId?: string | undefined;
  /** Regardless of case. */
  email?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** A page of the attempts, the newest first. */
export function listSignInAttempts(
  db: Db,
  { contactId, email, from, to, ...page }: SignInFilter,
): Promise<List<SignInAttempt & { at: Date }>> {
  return listRows(
    db,
    {
      select: COLUMNS,
      from: TABLE,
      order: 'at desc, id desc',
      filters: [
        ['contact_id = ?', contactId],
        ['lower(email) = lower(?)', email],
        ['at >= ?', from],
        ['at < ?', to],
      ],
    },
    page,
  );
}

/** Deletes expired entries. */
export function clearSignInAttempts(db: Db, now: Date): Promise<void> {
  return clearJournal(db, TABLE, new Date(now.getTime() - KEPT_DAYS * DAY_MS));
}

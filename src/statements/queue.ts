import type { Db } from '../database.ts';
import { LOCKS } from '../locks.ts';
import type { StatementFormat } from './request.ts';

/** Candidates looked at beyond the free slots: the first ones of several clients may be in other processes' hands. */
const SPARE_CANDIDATES = 32;

export type Channel = 'email' | 'push';

/** A delivery that this process works on. */
export interface Delivery {
  id: number;
  client_id: string;
  statement_id: string;
  channel: Channel;
  /** Empty: the whole statement. */
  currency: string;
  /** This one included. */
  attempts: number;
  deaths: number;
  email: string;
  contact_name: string;
  date_from: string;
  date_to: string;
  format: StatementFormat;
  created_at: Date;
}

const OPEN = "status in ('requested', 'making', 'retrying')";

/**
 * Deliveries that are due, one for each client in turn, the longest waiting first.
 * @param busy clients of which this process has one under way on the channel
 * @param abandoned also those whose process seems to have died
 */
export async function dueDeliveries(
  db: Db,
  channel: Channel,
  busy: readonly string[],
  slots: number,
  now: Date,
  abandoned: boolean,
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'statement-deliveries-due',
    text: `with recursive waiting as (
        (select client_id from statement_deliveries where channel = $1 and ${OPEN} order by client_id limit 1)
        union all
        select (select d.client_id from statement_deliveries d where d.channel = $1 and d.${OPEN} and d.client_id > w.client_id order by d.client_id limit 1)
        from waiting w where w.client_id is not null)
      select n.id from waiting w
      cross join lateral (select d.id, d.due_at from statement_deliveries d
        where d.channel = $1 and d.client_id = w.client_id and d.${OPEN} and d.due_at <= $2 and (d.status <> 'making' or $5) order by d.due_at, d.id limit 1) n
      where w.client_id <> all($3) order by n.due_at, n.id limit $4`,
    values: [channel, now, busy, slots + SPARE_CANDIDATES, abandoned],
  });
  return rows.map((row) => row.id);
}

/** Whether this connection has the delivery now. */
export async function lockDelivery(db: Db, id: number): Promise<boolean> {
  const { rows } = await db.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
    LOCKS.statementDelivery,
    id,
  ]);
  return rows[0]?.locked ?? false;
}

export async function unlockDelivery(db: Db, id: number): Promise<void> {
  await db.query('select pg_advisory_unlock($1, $2)', [LOCKS.statementDelivery, id]);
}

/**
 * Begins an attempt of a delivery whose lock is held; undefined where another process has been quicker with all of it.
 * One that is found `making` was left by a process that died.
 */
export async function beginAttempt(db: Db, id: number, now: Date, abandoned: boolean): Promise<Delivery | undefined> {
  const { rows } = await db.query<Delivery>(
    `update statement_deliveries d set status = 'making', attempts = d.attempts + 1,
       deaths = case when d.status = 'making' then d.deaths + 1 else d.deaths end
     from statement_requests r
     where d.id = $1 and d.${OPEN} and d.due_at <= $2 and (d.status <> 'making' or $3) and r.statement_id = d.statement_id and r.client_id = d.client_id
     returning d.id, d.client_id, d.statement_id, d.channel, d.currency, d.attempts, d.deaths, r.email, r.contact_name, r.date_from, r.date_to,
       r.format, r.created_at`,
    [id, now, abandoned],
  );
  return rows[0];
}

/** It was accepted: whatever else has happened, it is not sent again. */
export async function recordSent(db: Db, delivery: Delivery, now: Date): Promise<void> {
  await db.query(
    `update statement_deliveries set status = 'sent', finished_at = $3, last_error = null, deaths = 0
     where client_id = $1 and id = $2 and status <> 'sent'`,
    [delivery.client_id, delivery.id, now],
  );
}

/** It failed: until `due`, or for good where that is undefined. Counts only for the attempt that is the latest. */
export async function recordFailure(
  db: Db,
  delivery: Delivery,
  error: string,
  due: Date | undefined,
  now: Date,
): Promise<void> {
  await db.query(
    `update statement_deliveries set status = $4, last_error = $5, due_at = $6, deaths = 0, finished_at = $7
     where client_id = $1 and id = $2 and attempts = $3 and status = 'making'`,
    [
      delivery.client_id,
      delivery.id,
      delivery.attempts,
      due ? 'retrying' : 'failed',
      error,
      due ?? now,
      due ? null : now,
    ],
  );
}

/** The accounts that a request covers. */
export async function sectionsOf(
  db: Db,
  { client_id, statement_id }: Delivery,
): Promise<{ currency: string; currency_account_id: number; last_transaction: number | null }[]> {
  const { rows } = await db.query<{ currency: string; currency_account_id: number; last_transaction: number | null }>(
    `select currency, currency_account_id, last_transaction from statement_sections
     where client_id = $1 and statement_id = $2 order by currency`,
    [client_id, statement_id],
  );
  return rows;
}

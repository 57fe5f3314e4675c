import { noteChange } from '../audit/change.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import type { StatementFormat } from './request.ts';

/** The number of candidates beyond the free slots, because other processes may already work on the first ones. */
const SPARE_CANDIDATES = 32;

export type Channel = 'email' | 'push' | 'file';

/** An attempt of a delivery that this process works on. */
export interface StatementDelivery {
  id: number;
  client_id: string;
  statement_id: string;
  channel: Channel;
  /** The currency of the single account in the file; empty for the whole statement. */
  currency: string;
  /** The number of attempts in all rounds, including this one. */
  attempts: number;
  /** From 1: how often the statement was requested or sent again. */
  round: number;
  round_began_at: Date;
  /** The number of attempts in this round, including this one. */
  round_attempts: number;
  /** The number of processes in a row that have ended while they worked on it. */
  deaths: number;
  email: string;
  contact_name: string;
  date_from: string;
  date_to: string;
  format: StatementFormat;
  created_at: Date;
}

const OPEN = "status in ('requested', 'making', 'retrying')";

interface DueRequest {
  channel: Channel;
  /** Clients with a delivery in flight on the channel in this process. */
  busy: readonly string[];
  /** The number of deliveries that can begin. */
  slots: number;
  now: Date;
  /** Whether to include those whose process seems to have ended. */
  abandoned: boolean;
}

/**
 * Ids of due deliveries, one for each client, the one that has waited longest first. There are somewhat more than `slots`, because some may
 * be locked.
 */
export async function dueDeliveries(db: Db, { channel, busy, slots, now, abandoned }: DueRequest): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'statement-deliveries-due',
    text: `with recursive waiting as (
        (select client_id from statement_deliveries where channel = $1 and ${OPEN} order by client_id limit 1)
        union all
        select (select d.client_id from statement_deliveries d
          where d.channel = $1 and d.${OPEN} and d.client_id > w.client_id order by d.client_id limit 1)
        from waiting w where w.client_id is not null)
      select n.id from waiting w
      cross join lateral (select d.id, d.due_at from statement_deliveries d
        where d.channel = $1 and d.client_id = w.client_id and d.${OPEN} and d.due_at <= $2 and (d.status <> 'making' or $5)
        order by d.due_at, d.id limit 1) n
      where w.client_id <> all($3) order by n.due_at, n.id limit $4`,
    values: [channel, now, busy, slots + SPARE_CANDIDATES, abandoned],
  });
  return rows.map((row) => row.id);
}

/**
 * Locks a delivery for this connection. Two deliveries rarely have the same hash; then one of them waits.
 * @returns whether it got the lock
 */
export async function lockDelivery(db: Db, id: number): Promise<boolean> {
  const result = await db.query<{ locked: boolean }>('select pg_try_advisory_lock($1, hashint8($2)) as locked', [
    LOCKS.statementDelivery,
    id,
  ]);
  return first(result)?.locked ?? false;
}

export async function unlockDelivery(db: Db, id: number): Promise<void> {
  await db.query('select pg_advisory_unlock($1, hashint8($2))', [LOCKS.statementDelivery, id]);
}

/**
 * Begins an attempt of a delivery whose lock is held. If the delivery is `making`, a process that has ended left it in that state.
 * @param options `abandoned`: whether to begin such a delivery
 * @returns undefined if another process has completed it meanwhile
 */
export async function beginAttempt(
  tx: Transaction,
  id: number,
  { now, abandoned }: { now: Date; abandoned: boolean },
): Promise<StatementDelivery | undefined> {
  const result = await tx.query<StatementDelivery>(
    `update statement_deliveries d set status = 'making', attempts = d.attempts + 1, round_attempts = d.round_attempts + 1,
       deaths = case when d.status = 'making' then d.deaths + 1 else d.deaths end
     from statement_requests r
     where d.id = $1 and d.${OPEN} and d.due_at <= $2 and (d.status <> 'making' or $3)
       and r.statement_id = d.statement_id and r.client_id = d.client_id
     returning d.id, d.client_id, d.statement_id, d.channel, d.currency, d.attempts, d.round, d.round_began_at, d.round_attempts, d.deaths,
       r.email, r.contact_name, r.date_from, r.date_to, r.format, r.created_at`,
    [id, now, abandoned],
  );
  const delivery = first(result);
  if (delivery) noteProgress(tx, delivery, now);
  return delivery;
}

/** Records that a delivery was accepted. From then on it is never sent again. */
export async function recordSent(tx: Transaction, delivery: StatementDelivery, now: Date): Promise<void> {
  const sent = await tx.query(
    `update statement_deliveries set status = 'sent', finished_at = $3, last_error = null, shown_error = null, deaths = 0
     where client_id = $1 and id = $2 and status <> 'sent'`,
    [delivery.client_id, delivery.id, now],
  );
  if (sent.rowCount) noteProgress(tx, delivery, now);
}

/**
 * Records that an attempt failed, if it is the latest one.
 * @param failure `shown`: the reason that the client may see; `due`: when the next attempt is made; undefined if there is none
 */
export async function recordFailure(
  tx: Transaction,
  delivery: StatementDelivery,
  { reason, shown, due, now }: { reason: string; shown: string; due: Date | undefined; now: Date },
): Promise<void> {
  const failed = await tx.query(
    `update statement_deliveries set status = $4, last_error = $5, due_at = $6, deaths = 0, finished_at = $7, shown_error = $8
     where client_id = $1 and id = $2 and attempts = $3 and status = 'making'`,
    [
      delivery.client_id,
      delivery.id,
      delivery.attempts,
      due ? 'retrying' : 'failed',
      reason,
      due ?? now,
      due ? null : now,
      shown,
    ],
  );
  if (failed.rowCount) noteProgress(tx, delivery, now);
}

/** Notes in the change feed that the state of a request's deliveries has changed. */
function noteProgress(tx: Transaction, delivery: StatementDelivery, now: Date): void {
  const act = { now, actor: 'service:statements', requestId: `statement-${delivery.statement_id}` };
  const { statement_id: id, client_id: clientId } = delivery;
  noteChange(tx, act, { entity: 'statement_request', id, clientId, action: 'update' });
}

interface CoveredAccount {
  currency: string;
  currency_account_id: number;
  last_transaction: number | null;
}

/** The accounts that a request covers. */
export async function sectionsOf(db: Db, { client_id, statement_id }: StatementDelivery): Promise<CoveredAccount[]> {
  const { rows } = await db.query<CoveredAccount>(
    `select currency, currency_account_id, last_transaction from statement_sections
     where client_id = $1 and statement_id = $2 order by currency`,
    [client_id, statement_id],
  );
  return rows;
}

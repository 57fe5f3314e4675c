import { isDistributed } from '../../database/cells/pool.ts';
import type { Db } from '../../database/database.ts';
import { announceNotifications } from '../announcement.ts';
import { type DayWindow, within } from '../day-window.ts';
import type { Outcome } from '../sending/outcome.ts';
import type { Delivery } from './delivery.ts';

/** One attempt to deliver. */
export interface Attempt {
  delivery: Delivery;
  /** The id under which the worker leased the delivery. */
  worker: number;
  /** The id of this attempt. */
  deliveryId: string;
  /** Service time. */
  startedAt: Date;
}

/** An attempt that has ended, and the resulting state of its notification. */
export interface AttemptResult extends Attempt {
  outcome: Outcome;
  status: 'pending' | 'delivered' | 'failed';
  /** When it is tried again, for `pending`. */
  dueAt: Date | null;
  /** Whether the receiver asked for this moment. */
  asked: boolean;
  now: Date;
}

const writeStatement = (window: DayWindow | undefined) => `
  with result as materialized (
    select id, to_timestamp(created_ms / 1000) as created_at, client_id, subscription_id, status, to_timestamp(due_ms / 1000) as due_at,
      attempts, round_attempts, delivery_id, to_timestamp(started_ms / 1000) as started_at, duration_ms, status_code, headers, body, reason,
      to_timestamp(now_ms / 1000) as now, asked
    from unnest($2::uuid[], $3::float8[], $4::text[], $5::uuid[], $6::text[], $7::float8[], $8::int[], $9::int[], $10::uuid[],
      $11::float8[], $12::int[], $13::int[], $14::json[], $15::text[], $16::text[], $17::float8[], $18::bool[])
    as r(id, created_ms, client_id, subscription_id, status, due_ms, attempts, round_attempts, delivery_id,
      started_ms, duration_ms, status_code, headers, body, reason, now_ms, asked)),
  done as (
    delete from webhook_queue q using result r
    where q.notification_id = r.id and q.lease_owner = $1::int and q.attempts = r.attempts - 1
      and (r.status = 'delivered' or r.status = 'failed' and q.round_attempts = r.round_attempts - 1)
    returning r.id, r.created_at, r.status, r.attempts, r.now),
  again as (
    update webhook_queue q set lease_owner = null, attempts = r.attempts,
      due_at = case when q.round_attempts = r.round_attempts - 1 then coalesce(r.due_at, r.now) else r.now end,
      round_attempts = case when q.round_attempts = r.round_attempts - 1 then r.round_attempts else 0 end,
      early_from = case when r.asked then r.attempts + 1 else q.early_from end
    from result r where q.notification_id = r.id and q.lease_owner = $1::int and q.attempts = r.attempts - 1
      and r.status <> 'delivered' and not exists (select from done d where d.id = r.id)
    returning r.id, r.created_at, 'pending' as status, r.attempts, r.now),
  owned as materialized (select * from done union all select * from again),
  changed as (
    update notifications n set status = o.status, attempts_count = o.attempts,
      finished_at = case when o.status <> 'pending' then o.now end
    from owned o where n.id = o.id and n.created_at = o.created_at and ${within('n.created_at', window)})
  insert into attempts (notification_id, attempt_number, delivery_id, client_id, subscription_id, started_at, duration_ms,
    status_code, headers, body, reason, created_at)
  select id, attempts, delivery_id, client_id, subscription_id, started_at, duration_ms, status_code, headers, body, reason, created_at
  from result
  on conflict do nothing`;

/**
 * Writes results: attempts, the state of their notifications, and the queue. The lease fences them: if another worker has taken over a
 * delivery, only the attempt is recorded, and the delivery's state stays. A delivery that was requested again during the attempt
 * (redelivery.ts resets the round) is not given up, but due at once.
 * @param batch `worker`: the id under which all of them were leased; `window`: undefined for results outside of it
 */
export async function writeResults(
  db: Db,
  batch: { worker: number; window: DayWindow | undefined; results: readonly AttemptResult[] },
): Promise<void> {
  const { worker, window, results } = batch;
  await db.query({
    name: `webhooks-flush-${window?.name ?? 'any'}`,
    text: writeStatement(window),
    values: [
      worker,
      plainArray(results, (one) => one.delivery.id),
      plainArray(results, (one) => one.delivery.createdAt.getTime()),
      results.map((one) => one.delivery.clientId),
      plainArray(results, (one) => one.delivery.subscriptionId),
      plainArray(results, (one) => one.status),
      plainArray(results, (one) => one.dueAt?.getTime()),
      plainArray(results, (one) => one.delivery.attempts + 1),
      plainArray(results, (one) => one.delivery.roundAttempts + 1),
      plainArray(results, (one) => one.deliveryId),
      plainArray(results, (one) => one.startedAt.getTime()),
      plainArray(results, (one) => one.outcome.durationMs),
      plainArray(results, (one) => one.outcome.statusCode),
      results.map((one) => (one.outcome.headers ? JSON.stringify(one.outcome.headers) : null)),
      results.map((one) => one.outcome.body),
      plainArray(results, (one) => one.outcome.reason),
      plainArray(results, (one) => one.now.getTime()),
      plainArray(results, (one) => (one.asked ? 't' : 'f')),
    ],
  });
  if (isDistributed(db))
    await announceNotifications(
      db,
      results.map(({ delivery }) => delivery.id),
    );
}

/** An array literal of values that need no quotes (identifiers, numbers, words). The driver would quote each value, which takes ten times as long. */
function plainArray(
  results: readonly AttemptResult[],
  value: (one: AttemptResult) => string | number | null | undefined,
): string {
  let text = '';
  for (const one of results) text += `${text === '' ? '{' : ','}${value(one) ?? 'NULL'}`;
  return text === '' ? '{}' : `${text}}`;
}

import { audit } from '../audit.ts';
import { isDistributed } from '../cells/pool.ts';
import type { Act } from '../context.ts';
import { first, type Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { isUuid } from '../uuid.ts';
import { announceNotifications } from './announcement.ts';
import { instantOf } from './notification.ts';

/** SQL that queues pending notifications, in a new round. @param again SQL of them, as `a`; @param now an SQL parameter */
const queued = (again: string, now: string) => `insert into webhook_queue as q
    (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
  select a.id, a.client_id, a.subscription_id, a.event_id, a.created_at, ${now}, a.attempts_count, 0, a.type = 'PING' and s.delivery = 'HTTP'
  from ${again} join subscriptions s on s.id = a.subscription_id and s.client_id = a.client_id
  on conflict (notification_id) do update set due_at = excluded.due_at, round_attempts = 0`;
const MADE_PENDING = `unnest($2::uuid[], $3::timestamptz[]) as k (id, created_at)
  join notifications a on a.id = k.id and a.created_at = k.created_at`;

/**
 * Makes notifications pending and queues them: by one statement, or by two that Citus does not plan in parts.
 * @param statement makes notifications `n` pending, without a `returning`
 * @returns how many
 */
async function queueAgain(
  tx: Transaction,
  now: Date,
  { text, values }: { text: string; values: unknown[] },
): Promise<number> {
  if (!isDistributed(tx)) {
    const queue = queued('again a', `$${values.length + 1}`);
    return (await tx.query(`with again as (${text} returning n.*) ${queue}`, [...values, now])).rowCount ?? 0;
  }
  const { rows } = await tx.query<{ id: string; created_at: Date }>(`${text} returning n.id, n.created_at`, values);
  const ids = rows.map(({ id }) => id);
  const { rowCount } = await tx.query(queued(MADE_PENDING, '$1'), [
    now,
    ids,
    rows.map(({ created_at: createdAt }) => createdAt),
  ]);
  await announceNotifications(tx, ids);
  return rowCount ?? 0;
}

const ERASED = 'names a notification whose content was erased with a person: there is nothing left to send';

/** Whose notification or subscription it must be; undefined for the institution, which may send any of them again. */
interface Owner {
  clientId?: string | undefined;
}

/**
 * Sends a notification again, from the first step of the schedule: the same id, the same bytes, and the attempt number continues. A pending
 * notification is tried at once. One that is being tried is tried again where that attempt fails.
 * @throws Problem transition_not_allowed where an erasure has emptied it; notification_not_found; subscription_not_found where its subscription was deleted
 */
export async function redeliver(
  tx: Transaction,
  act: Act,
  { id, clientId }: Owner & { id: string },
): Promise<{ count: number }> {
  const since = isUuid(id) ? instantOf(id) : undefined;
  const found =
    since && !Number.isNaN(since.getTime())
      ? first(
          await tx.query<{ created_at: Date; client_id: string; gone: boolean; erased: boolean }>(
            `select n.created_at, n.client_id, s.deleted_at is not null as gone, e.body = '' as erased from notifications n
             join subscriptions s on s.id = n.subscription_id and s.client_id = n.client_id
             left join webhook_events e on e.client_id = n.client_id and e.created_at = n.created_at and e.id = n.event_id
             where n.id = $1 and n.created_at >= $2 and n.created_at < $2::timestamptz + interval '1 ms'
               and ($3::text is null or n.client_id = $3)`,
            [id, since, clientId],
          ),
        )
      : undefined;
  if (!found)
    throw new Problem('notification_not_found', { field: 'id', message: 'does not name a notification that is kept' });
  if (found.gone)
    throw new Problem('subscription_not_found', {
      field: 'id',
      message: 'names a notification whose subscription was deleted',
    });
  if (found.erased) throw new Problem('transition_not_allowed', { field: 'id', message: ERASED });
  // The queue's row is locked before the notification's, as results are written.
  await tx.query('select from webhook_queue where notification_id = $1 for update', [id]);
  await queueAgain(tx, act.now, {
    text: `update notifications n set status = 'pending', finished_at = null where n.id = $1 and n.created_at = $2`,
    values: [id, found.created_at],
  });
  await audit(tx, act, {
    action: 'action',
    entity: 'notification',
    entityId: id,
    clientId: found.client_id,
    after: { action: 'redeliver' },
  });
  return { count: 1 };
}

export interface Replay extends Owner {
  subscriptionId: string;
  /** Events from this moment on ... */
  since: Date;
  /** ... and before this one. */
  until: Date;
  /** Only notifications that failed; otherwise every event of the subscription's types, whether it was sent before or missed. */
  onlyFailed: boolean;
}

/**
 * Sends a subscription the events that it missed, also those of a time when it was inactive or did not exist (docs/decisions.md, 6).
 * Notifications that were sent before keep their id and bytes, so that a receiver recognises them. Pending ones stay as they are.
 * @returns the number of notifications put into the queue
 * @throws Problem subscription_not_found
 */
export async function replay(tx: Transaction, act: Act, input: Replay): Promise<{ count: number }> {
  const subscription = isUuid(input.subscriptionId)
    ? first(
        await tx.query<{ client_id: string; types: string[] }>(
          `select client_id, types::text[] as types from subscriptions
           where id = $1 and deleted_at is null and ($2::text is null or client_id = $2)`,
          [input.subscriptionId, input.clientId],
        ),
      )
    : undefined;
  if (!subscription)
    throw new Problem('subscription_not_found', { field: 'id', message: 'does not name a subscription' });
  const { since, until, subscriptionId } = input;
  const { now } = act;
  const done = async (count: number) => {
    const after = { action: 'replay', since, until, only_failed: input.onlyFailed, count };
    await audit(tx, act, {
      action: 'action',
      entity: 'subscription',
      entityId: subscriptionId,
      clientId: subscription.client_id,
      after,
    });
    return { count };
  };
  return done(
    await queueAgain(
      tx,
      now,
      input.onlyFailed
        ? { text: FAILED, values: [subscriptionId, since, until] }
        : { text: MISSED, values: [subscriptionId, since, until, subscription.client_id, subscription.types] },
    ),
  );
}

const FAILED = `update notifications n set status = 'pending', finished_at = null
  where n.subscription_id = $1 and n.created_at >= $2 and n.created_at < $3 and n.status = 'failed' and n.type <> 'PING'
    and not exists (select from webhook_events e where e.client_id = n.client_id and e.created_at = n.created_at
      and e.id = n.event_id and e.body = '')`;
const MISSED = `insert into notifications as n (id, client_id, subscription_id, event_id, type, status, created_at)
  select notification_id(e.id, $1, e.created_at), e.client_id, $1, e.id, e.type, 'pending', e.created_at
  from webhook_events e where e.client_id = $4 and e.created_at >= $2 and e.created_at < $3 and e.type = any($5)
    -- An erasure has emptied it.
    and e.body <> ''
    -- An event in the outbox is on its way.
    and not exists (select from webhook_outbox o where o.client_id = e.client_id and o.event_id = e.id)
    -- A pending notification is not even locked: its result may wait to be written, and other results behind it.
    and not exists (select from notifications p where p.id = notification_id(e.id, $1, e.created_at)
      and p.created_at = e.created_at and p.status = 'pending')
  on conflict (id, created_at) do update set status = 'pending', finished_at = null where n.status <> 'pending'`;

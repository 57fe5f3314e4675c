import { audit } from '../audit.ts';
import type { Act } from '../context.ts';
import { first, type Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { isUuid } from '../uuid.ts';

/** The instant in a notification's id (UUID version 7): its event's, and so its partition. */
export function instantOf(notificationId: string): Date {
  return new Date(Number.parseInt(notificationId.replaceAll('-', '').slice(0, 12), 16));
}

const QUEUE = `insert into delivery.queue as q (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
  select id, client_id, subscription_id, event_id, created_at, $1, attempts_count, 0, type = 'PING' from again
  on conflict (notification_id) do update set due_at = excluded.due_at, round_attempts = 0`;

/**
 * Sends a notification again, from the first step of the schedule on: same id, same bytes, the attempt number goes on. One that is pending
 * is tried at once; one that is being tried, again where that fails.
 * @throws Problem notification_not_found; subscription_not_found where its subscription was deleted
 */
export async function redeliver(tx: Transaction, act: Act, id: string): Promise<{ count: number }> {
  const since = isUuid(id) ? instantOf(id) : undefined;
  const found =
    since && !Number.isNaN(since.getTime())
      ? first(
          await tx.query<{ created_at: Date; client_id: string; gone: boolean }>(
            `select n.created_at, n.client_id, s.deleted_at is not null as gone from webhooks.notifications n
             join webhooks.subscriptions s on s.id = n.subscription_id
             where n.id = $1 and n.created_at >= $2 and n.created_at < $2::timestamptz + interval '1 ms'`,
            [id, since],
          ),
        )
      : undefined;
  if (!found)
    throw new Problem('notification_not_found', { field: 'id', message: 'is not a notification that is kept' });
  if (found.gone)
    throw new Problem('subscription_not_found', {
      field: 'id',
      message: 'the subscription of this notification was deleted',
    });
  // The queue's row before the notification's, as results are written.
  await tx.query('select from delivery.queue where notification_id = $1 for update', [id]);
  await tx.query(
    `with again as (
        update webhooks.notifications set status = 'pending', finished_at = null where id = $2 and created_at = $3 returning *)
      ${QUEUE}`,
    [act.now, id, found.created_at],
  );
  await audit(tx, act, {
    action: 'action',
    entity: 'notification',
    entityId: id,
    clientId: found.client_id,
    after: { action: 'redeliver' },
  });
  return { count: 1 };
}

export interface Replay {
  subscriptionId: string;
  /** Events from this moment on ... */
  since: Date;
  /** ... and before this one. */
  until: Date;
  /** Only notifications that were given up; otherwise everything of the types that the subscription has, sent before or missed. */
  onlyFailed: boolean;
}

/**
 * Gives a subscription what it missed: from the event log, also of the time when it was inactive or did not exist (docs/decisions.md, 6).
 * What was sent before keeps its id and bytes, so that a receiver recognises it; what is pending already is left alone.
 * @returns how many notifications were put into the queue
 * @throws Problem subscription_not_found
 */
export async function replay(tx: Transaction, act: Act, given: Replay): Promise<{ count: number }> {
  const subscription = isUuid(given.subscriptionId)
    ? first(
        await tx.query<{ client_id: string; types: string[] }>(
          'select client_id, types::text[] as types from webhooks.subscriptions where id = $1 and deleted_at is null',
          [given.subscriptionId],
        ),
      )
    : undefined;
  if (!subscription) throw new Problem('subscription_not_found', { field: 'id', message: 'is not a subscription' });
  const { since, until, subscriptionId } = given;
  const { now } = act;
  const done = async (count: number) => {
    const after = { action: 'replay', since, until, only_failed: given.onlyFailed, count };
    await audit(tx, act, {
      action: 'action',
      entity: 'subscription',
      entityId: subscriptionId,
      clientId: subscription.client_id,
      after,
    });
    return { count };
  };
  if (given.onlyFailed) {
    const { rowCount } = await tx.query(
      `with again as (
          update webhooks.notifications set status = 'pending', finished_at = null
          where subscription_id = $2 and created_at >= $3 and created_at < $4 and status = 'failed' and type <> 'PING' returning *)
        ${QUEUE}`,
      [now, subscriptionId, since, until],
    );
    return done(rowCount ?? 0);
  }
  const { rowCount } = await tx.query(
    `with missed as (
        select delivery.notification_id(e.id, $2, e.created_at) as id, e.client_id, e.id as event_id, e.type, e.created_at
        from delivery.events e where e.client_id = $5 and e.created_at >= $3 and e.created_at < $4 and e.type = any($6)
        -- What has not been fanned out yet is on its way.
        and not exists (select from delivery.markers m where m.client_id = e.client_id and m.event_id = e.id)
        -- And what is pending is not even locked: its result may be waiting to be written, and all others behind it.
        and not exists (select from webhooks.notifications n where n.id = delivery.notification_id(e.id, $2, e.created_at)
          and n.created_at = e.created_at and n.status = 'pending')),
      again as (
        insert into webhooks.notifications as n (id, client_id, subscription_id, event_id, type, status, created_at)
        select id, client_id, $2, event_id, type, 'pending', created_at from missed
        on conflict (id, created_at) do update set status = 'pending', finished_at = null where n.status <> 'pending'
        returning *)
      ${QUEUE}`,
    [now, subscriptionId, since, until, subscription.client_id, subscription.types],
  );
  return done(rowCount ?? 0);
}

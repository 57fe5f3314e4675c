import { audit } from '../audit.ts';
import type { Act } from '../context.ts';
import { first, type Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { isUuid } from '../uuid.ts';

/** The instant in a notification's id (UUID version 7): the moment of its event, which leads to its partition. */
export function instantOf(notificationId: string): Date {
  return new Date(Number.parseInt(notificationId.replaceAll('-', '').slice(0, 12), 16));
}

/** Queues the notifications of `again`, in a new round. */
const QUEUE = `insert into webhook_queue as q
    (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
  select a.id, a.client_id, a.subscription_id, a.event_id, a.created_at, $1, a.attempts_count, 0, a.type = 'PING' and s.delivery = 'HTTP'
  from again a join subscriptions s on s.id = a.subscription_id and s.client_id = a.client_id
  on conflict (notification_id) do update set due_at = excluded.due_at, round_attempts = 0`;

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
  await tx.query(
    `with again as (
        update notifications set status = 'pending', finished_at = null where id = $2 and created_at = $3 returning *)
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
  if (input.onlyFailed) {
    const { rowCount } = await tx.query(
      `with again as (
          update notifications n set status = 'pending', finished_at = null
          where subscription_id = $2 and created_at >= $3 and created_at < $4 and status = 'failed' and type <> 'PING'
            and not exists (select from webhook_events e where e.client_id = n.client_id and e.created_at = n.created_at
              and e.id = n.event_id and e.body = '') returning *)
        ${QUEUE}`,
      [now, subscriptionId, since, until],
    );
    return done(rowCount ?? 0);
  }
  const { rowCount } = await tx.query(
    `with missed as (
        select notification_id(e.id, $2, e.created_at) as id, e.client_id, e.id as event_id, e.type, e.created_at
        from webhook_events e where e.client_id = $5 and e.created_at >= $3 and e.created_at < $4 and e.type = any($6)
        -- An erasure has emptied it.
        and e.body <> ''
        -- An event in the outbox is on its way.
        and not exists (select from webhook_outbox o where o.client_id = e.client_id and o.event_id = e.id)
        -- A pending notification is not even locked: its result may wait to be written, and other results behind it.
        and not exists (select from notifications n where n.id = notification_id(e.id, $2, e.created_at)
          and n.created_at = e.created_at and n.status = 'pending')),
      again as (
        insert into notifications as n (id, client_id, subscription_id, event_id, type, status, created_at)
        select id, client_id, $2, event_id, type, 'pending', created_at from missed
        on conflict (id, created_at) do update set status = 'pending', finished_at = null where n.status <> 'pending'
        returning *)
      ${QUEUE}`,
    [now, subscriptionId, since, until, subscription.client_id, subscription.types],
  );
  return done(rowCount ?? 0);
}

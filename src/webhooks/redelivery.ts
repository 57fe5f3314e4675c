import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { isDistributed } from '../database/cells/pool.ts';
import { first, leaveWork, type Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { announceNotifications } from './announcement.ts';
import { type FormerTypes, typePeriods } from './former-types.ts';
import { instantOf } from './notification.ts';

/**
 * SQL that queues pending notifications, in the order of their events and in a new round.
 * @param again SQL for them, with the alias `a`;
 * @param now an SQL parameter
 */
const queued = (again: string, now: string) => `insert into webhook_queue as q
    (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
  select a.id, a.client_id, a.subscription_id, a.event_id, a.created_at, least(a.created_at, ${now}), a.attempts_count, 0,
    a.type = 'PING' and s.delivery = 'HTTP'
  from ${again} join subscriptions s on s.id = a.subscription_id and s.client_id = a.client_id
  on conflict (notification_id) do update set due_at = excluded.due_at, early_from = 0,
    round_attempts = case when q.lease_owner is null then 0 else -1 end`;
const MADE_PENDING = `unnest($2::uuid[], $3::timestamptz[]) as k (id, created_at)
  join notifications a on a.id = k.id and a.created_at = k.created_at`;

/**
 * Makes notifications pending and queues them, with one statement, or with two that Citus does not plan in parts.
 * @param statement makes notifications `n` pending, without a `returning`
 * @returns the number of notifications
 */
async function queueAgain(
  tx: Transaction,
  now: Date,
  { text, values }: { text: string; values: unknown[] },
): Promise<number> {
  leaveWork(tx, 'queue');
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

/** The client that must own the notification or subscription; undefined for the institution, which may resend any. */
interface Owner {
  clientId?: string | undefined;
}

/**
 * Sends a notification again, from the first step of the schedule, with the same id and the same bytes. The attempt number continues. A
 * pending notification is tried at once. If an attempt is running, it is tried again only if that attempt fails.
 * @throws Problem transition_not_allowed if an erasure has emptied it; notification_not_found; subscription_not_found if its subscription
 * was deleted
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
  // The queue's row is locked before the notification's, as when results are written.
  await tx.query('select from webhook_queue where notification_id = $1 for update', [id]);
  await queueAgain(tx, act.now, {
    text: `update notifications n set status = 'pending', finished_at = null where n.id = $1 and n.created_at = $2`,
    values: [id, found.created_at],
  });
  audit(tx, act, {
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
  /** What the caller calls the subscription's id, if not `id`. */
  field?: string;
  /** Events from this moment on. */
  since: Date;
  /** Events before this moment. */
  until: Date;
  /** Whether to send only notifications whose attempts have all failed so far. Otherwise everything that the subscription had in that time. */
  onlyFailed: boolean;
}

/**
 * Sends a subscription what it had in some period, whether that was sent before or missed while it was inactive. This covers the
 * notifications that were made for it. It also covers the events, since its creation, of the types that it had at their moment
 * (docs/decisions.md, 6). Notifications that were sent before keep their id and bytes, so that a receiver recognises them. Pending ones are
 * tried at once, in a new round; those with a running attempt stay unchanged.
 * @returns the number of notifications that are sent
 * @throws Problem subscription_not_found
 */
export async function replay(tx: Transaction, act: Act, input: Replay): Promise<{ count: number }> {
  const subscription = await lockSubscription(tx, input);
  const { since, until, subscriptionId, onlyFailed } = input;
  const span = [subscriptionId, since, until];
  const waiting = first(
    await tx.query<{ count: number }>(waitingStatement(onlyFailed), [...span, act.now, subscription.clientId]),
  );
  const periods = typePeriods(subscription);
  const had = [periods.map(({ type }) => type), periods.map((one) => one.since), periods.map((one) => one.until)];
  const queued = await queueAgain(
    tx,
    act.now,
    onlyFailed
      ? { text: FAILED, values: [...span, subscription.clientId] }
      : { text: MISSED, values: [...span, subscription.clientId, ...had] },
  );
  const count = (waiting?.count ?? 0) + queued;
  audit(tx, act, {
    action: 'action',
    entity: 'subscription',
    entityId: subscriptionId,
    clientId: subscription.clientId,
    after: { action: 'replay', since, until, only_failed: onlyFailed, count },
  });
  return { count };
}

interface ReplayedSubscription {
  clientId: string;
  createdAt: Date;
  types: string[];
  formerTypes: FormerTypes[];
}

/** Locks the subscription, so that its replays run one after the other. */
async function lockSubscription(
  tx: Transaction,
  { subscriptionId, clientId, field = 'id' }: Replay,
): Promise<ReplayedSubscription> {
  const found = isUuid(subscriptionId)
    ? first(
        await tx.query<ReplayedSubscription>(
          `select client_id as "clientId", created_at as "createdAt", types::text[] as types, former_types as "formerTypes" from subscriptions
           where id = $1 and deleted_at is null and ($2::text is null or client_id = $2) for no key update`,
          [subscriptionId, clientId],
        ),
      )
    : undefined;
  if (found) return found;
  throw new Problem('subscription_not_found', { field, message: 'does not name a subscription' });
}

/**
 * Counts the pending notifications of a period, and makes those due that no worker holds. The others are not even locked, because their
 * results may be waiting to be written, with other results behind them.
 */
const waitingStatement = (onlyFailed: boolean) => `with pending as materialized (
    select q.ctid as place, q.lease_owner
    from notifications n join webhook_queue q on q.notification_id = n.id and q.client_id = n.client_id
    where n.client_id = $5 and n.subscription_id = $1 and n.created_at >= $2 and n.created_at < $3 and n.status = 'pending' and n.type <> 'PING'
      ${onlyFailed ? 'and q.round_attempts > 0' : ''}),
  due as (
    update webhook_queue set due_at = least(created_at, $4), round_attempts = 0, early_from = 0
    where client_id = $5 and ctid = any(array(select place from pending where lease_owner is null)) and lease_owner is null)
  select count(*)::int as count from pending`;
const FAILED = `update notifications n set status = 'pending', finished_at = null
  where n.client_id = $4 and n.subscription_id = $1 and n.created_at >= $2 and n.created_at < $3 and n.status = 'failed'
    and n.type <> 'PING' and not exists (select from webhook_events e where e.client_id = n.client_id and e.created_at = n.created_at
      and e.id = n.event_id and e.body = '')`;
const MISSED = `insert into notifications as n (id, client_id, subscription_id, event_id, type, status, created_at)
  select notification_id(e.id, $1, e.created_at), e.client_id, $1, e.id, e.type, 'pending', e.created_at
  from webhook_events e where e.client_id = $4 and e.created_at >= $2 and e.created_at < $3 and e.type <> 'PING'
    -- What the subscription had: of its types at that moment, or made for it.
    and (exists (select from unnest($5::text[], $6::timestamptz[], $7::timestamptz[]) as had(type, since, until)
        where had.type = e.type and e.created_at >= had.since and (had.until is null or e.created_at < had.until))
      or exists (select from notifications m where m.id = notification_id(e.id, $1, e.created_at) and m.created_at = e.created_at))
    -- An erasure has emptied it.
    and e.body <> ''
    -- An event in the outbox is on its way.
    and not exists (select from webhook_outbox o where o.client_id = e.client_id and o.event_id = e.id)
    -- Pending ones are due already.
    and not exists (select from notifications p where p.id = notification_id(e.id, $1, e.created_at)
      and p.created_at = e.created_at and p.status = 'pending')
  on conflict (id, created_at) do update set status = 'pending', finished_at = null where n.status <> 'pending'`;

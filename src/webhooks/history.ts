import { type Static, Type } from 'typebox';
import { overCells, unionOfCells } from '../database/cells/union.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { made, RecordKind, type Shown } from '../database/record.ts';
import { countRows, type List, shownTotal, whereOf } from '../database/rows.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { Moment, Nullable } from '../values/schemas.ts';
import { instantOf, NOTIFICATION_STATUSES, PING, WEBHOOK_TYPES } from './notification.ts';

/** Subscriptions, notifications and attempts in the form that the operator sees (docs/operator-interface.md). */

/** A subscription. Its secret is not shown. */
export const SUBSCRIPTION = new RecordKind({
  table: 'subscriptions',
  id: 'id',
  fields: {
    id: made(Type.String({ format: 'uuid' })),
    client_id: made(Type.String()),
    contact_id: made(Type.String({ description: 'Contact who made it' })),
    url: made(Nullable(Type.String({ description: 'Null where its notifications are read from a stream' }))),
    active: made(Type.Boolean()),
    types: made(Type.Array(Type.Enum([...WEBHOOK_TYPES])), { elsewhere: 's.types::text[]' }),
    extra_headers: made(Type.Array(Type.Object({ name: Type.String(), value: Type.String() })), {
      elsewhere: 'to_json(s.extra_headers)',
    }),
    created_at: made(Moment),
    disabled_reason: made(Nullable(Type.String())),
    disabled_at: made(Nullable(Moment)),
    deleted_at: made(Nullable(Moment)),
    /** Read from its endpoint `e`. */
    failing_since: made(Nullable(Moment), { elsewhere: 'e.failing_since' }),
  },
});
type SubscriptionView = Shown<typeof SUBSCRIPTION>;

/** A page of subscriptions, newest first, and their total number; without a client, more than 10,000 are not counted. Secrets are not shown. */
export async function listSubscriptions(
  db: Db,
  filter: { clientId?: string | undefined; active?: boolean | undefined; failing?: boolean | undefined },
  page: { limit: number; offset: number },
): Promise<List<SubscriptionView>> {
  const where = `($1::text is null or s.client_id = $1) and ($2::boolean is null or s.active = $2) and s.deleted_at is null
    and ($3::boolean is null or (e.failing_since is not null) = $3)`;
  const values = [filter.clientId ?? null, filter.active ?? null, filter.failing ?? null];
  const found = `select ${SUBSCRIPTION.selectFrom('s')} from subscriptions s left join webhook_endpoints e on e.subscription_id = s.id where ${where}`;
  const all = filter.clientId === undefined ? (unionOfCells(db, 'subscriptions')?.(found) ?? found) : found;
  const counted = await db.query<{ total: number }>(`select count(*) as total from (${all}) s`, values);
  const { rows } = await db.query<SubscriptionView>(
    `select * from (${all}) s order by created_at desc, id limit $4 offset $5`,
    [...values, page.limit, page.offset],
  );
  return { rows, total: shownTotal(first(counted)?.total ?? 0, filter.clientId === undefined) };
}

/** A subscription in the change feed. It leaves out the secret, the values of the headers, and the health, which changes with each delivery. */
export type SubscriptionRecord = Omit<SubscriptionView, 'failing_since' | 'extra_headers'> & {
  extra_headers: { name: string }[];
};

/** Subscriptions of any clients, including deleted ones, for the change feed. */
export async function readSubscriptions(
  db: Db,
  clientId: string,
  ids: readonly string[],
): Promise<SubscriptionRecord[]> {
  const { rows } = await db.query<SubscriptionRecord>(
    `select id, client_id, contact_id, url, active, types::text[] as types,
       array(select json_build_object('name', h.name) from unnest(extra_headers) h) as extra_headers,
       created_at, disabled_reason, disabled_at, deleted_at
     from subscriptions where client_id = $1 and id = any($2::uuid[])`,
    [clientId, ids],
  );
  return rows;
}

const Attempt = Type.Object(
  {
    attempt_number: Type.Integer({ description: 'From 1' }),
    delivery_id: Type.String({ format: 'uuid' }),
    started_at: Moment,
    duration_ms: Type.Number(),
    status_code: Nullable(Type.Integer({ description: "The receiver's answer; null without one" })),
    headers: Nullable(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
        description: "The receiver's",
      }),
    ),
    body: Nullable(Type.String({ description: 'The first 64 KiB that the receiver answered' })),
    reason: Nullable(Type.String({ description: 'Why there was no answer, such as dns, connect, tls, timeout' })),
  },
  { title: 'Attempt' },
);
/** A notification with its attempts. */
export const NOTIFICATION = Type.Object({
  id: Type.String({ format: 'uuid' }),
  client_id: Type.String(),
  subscription_id: Type.String({ format: 'uuid' }),
  type: Type.Enum([...WEBHOOK_TYPES, PING]),
  status: Type.Enum([...NOTIFICATION_STATUSES]),
  created_at: Moment,
  body: Type.String({ description: 'The body that is sent, byte for byte' }),
  attempts: Type.Array(Attempt),
});
type NotificationView = Static<typeof NOTIFICATION>;

export interface NotificationFilter {
  clientId?: string | undefined;
  subscriptionId?: string | undefined;
  paymentId?: string | undefined;
  status?: string | undefined;
  type?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The columns of a NotificationView. @param tenant SQL of the client */
const notificationColumns = (tenant: string) => `n.id, n.client_id, n.subscription_id, n.type, n.status, n.created_at,
  (select e.body from webhook_events e where e.client_id = ${tenant} and e.created_at = n.created_at and e.id = n.event_id) as body,
  coalesce((select json_agg(json_build_object('attempt_number', a.attempt_number, 'delivery_id', a.delivery_id, 'started_at', a.started_at,
      'duration_ms', a.duration_ms, 'status_code', a.status_code, 'headers', a.headers, 'body', a.body, 'reason', a.reason)
      order by a.attempt_number, a.started_at)
    from attempts a where a.client_id = ${tenant} and a.notification_id = n.id and a.created_at = n.created_at), '[]') as attempts`;

/** The notifications of a payment: those of its events, for each subscription of its client. */
const OF_PAYMENT = `select notification_id(e.id, s.id, e.created_at), e.created_at
  from payments p join webhook_events e on e.client_id = p.client_id and e.payment_id = p.payment_id
  join subscriptions s on s.client_id = p.client_id where p.payment_id = ?`;

/** A page of notifications with their attempts, newest first, and their total number. */
export async function listNotifications(
  db: Db,
  filter: NotificationFilter,
  page: { limit: number; offset: number },
): Promise<List<NotificationView>> {
  const { where, values } = whereOf([
    // The index leads from a client's subscriptions to its notifications.
    ['n.client_id = ? and n.subscription_id in (select id from subscriptions where client_id = ?)', filter.clientId],
    [`(n.id, n.created_at) in (${OF_PAYMENT})`, filter.paymentId],
    ['n.subscription_id = ?', filter.subscriptionId],
    ['n.status = ?', filter.status],
    ['n.type = ?', filter.type],
    ['n.created_at >= ?', filter.from],
    ['n.created_at < ?', filter.to],
  ]);
  const bounded = filter.clientId === undefined;
  const total = await countRows(db, { from: 'notifications n', where, values, bounded });
  // An id begins with its moment, so the order is the same, and the primary key of each partition has it.
  const order = bounded ? 'n.id desc' : 'n.created_at desc, n.id desc';
  const tenant = filter.clientId === undefined ? 'n.client_id' : '$1';
  const [limit, offset] = [`$${values.length + 1}::int`, `$${values.length + 2}::bigint`];
  const pageOf = (bounds: string) => `select ${notificationColumns(tenant)} from notifications n
     join (select n.id, n.created_at from notifications n where ${where} order by ${order} ${bounds}) as page
     on n.client_id = ${tenant} and n.id = page.id and n.created_at = page.created_at order by n.created_at desc, n.id desc`;
  const union = bounded ? unionOfCells(db, 'notifications') : undefined;
  const { rows } = await db.query<NotificationView>(
    union
      ? `select * from (${union(pageOf(`limit ${limit} + ${offset}`))}) n order by created_at desc, id desc limit ${limit} offset ${offset}`
      : pageOf(`limit ${limit} offset ${offset}`),
    [...values, page.limit, page.offset],
  );
  return { rows, total };
}

/** @throws Problem notification_not_found */
export async function findNotification(db: Db, id: string): Promise<NotificationView> {
  if (isUuid(id)) {
    const since = instantOf(id);
    const text = `select ${notificationColumns('n.client_id')} from notifications n
      where n.id = $1 and n.created_at >= $2 and n.created_at < $2::timestamptz + interval '1 ms'`;
    const found = first(await db.query<NotificationView>(overCells(db, 'notifications', text), [id, since]));
    if (found) return found;
  }
  throw new Problem('notification_not_found', { field: 'id', message: 'does not name a notification that is kept' });
}

/**
 * In the order in which the delivery engine locks. A dispatcher that holds an event of the outbox thus commits its notifications before
 * they are searched for.
 */
const TABLES = ['webhook_outbox', 'webhook_queue', 'attempts', 'notifications', 'webhook_events'];

/** Removes all events, notifications and attempts of a client. Pending notifications are never sent. Subscriptions stay. */
export async function removeNotifications(tx: Transaction, clientId: string): Promise<void> {
  for (const table of TABLES) await tx.query(`delete from ${table} where client_id = $1`, [clientId]);
}

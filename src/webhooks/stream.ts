import { randomUUID } from 'node:crypto';
import { isDistributed } from '../database/cells/pool.ts';
import { type Db, first, type Pool, type Transaction, transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { announceNotifications } from './announcement.ts';
import type { NotificationType } from './notification.ts';

/** Notifications that one statement takes or reads. */
const MAX_BATCH_ROWS = 200;
/** Milliseconds for which a reader counts as present after its last sign of life. */
const READER_LIFETIME_MS = 60_000;
/** Milliseconds without a reader after which a subscription of delivery STREAM is removed (docs/webhooks.md). */
const MAX_UNREAD_MS = 600_000;

/** The stream of one subscription of one client. */
export interface StreamKey {
  clientId: string;
  subscriptionId: string;
}

/** A notification with its place in the stream. */
export interface StreamedNotification {
  position: number;
  id: string;
  type: NotificationType;
  attemptNumber: number;
  deliveryId: string;
  body: string;
}

/** Creates a stream. It counts as read when it is created, so its reader has ten minutes to connect. */
export async function createStream(tx: Transaction, key: StreamKey, now: Date): Promise<void> {
  await tx.query('insert into webhook_streams (subscription_id, client_id, read_at) values ($2, $1, $3)', [
    key.clientId,
    key.subscriptionId,
    now,
  ]);
}

/** A cursor contains the subscription, so that no other stream accepts it. */
export function cursorOf(subscriptionId: string, position: number): string {
  return `${subscriptionId}.${position}`;
}

/**
 * Takes a stream over from its current reader.
 * @param after a cursor: the stream continues after it. Undefined: it begins with what is pending
 * @returns the reader, and the place after which it reads
 * @throws Problem subscription_not_found; invalid_parameter if the subscription is not a stream, or the cursor is unknown
 */
export async function openStream(
  db: Db,
  key: StreamKey,
  options: { after: string | undefined; now: Date },
): Promise<{ reader: string; position: number }> {
  const { clientId, subscriptionId } = key;
  const found = isUuid(subscriptionId)
    ? first(
        await db.query<{ position: number | null }>(
          `select t.position from subscriptions s
           left join webhook_streams t on t.subscription_id = s.id and t.client_id = s.client_id
           where s.client_id = $1 and s.id = $2 and s.deleted_at is null`,
          [clientId, subscriptionId],
        ),
      )
    : undefined;
  if (!found)
    throw new Problem('subscription_not_found', {
      field: 'subscription_id',
      message: 'does not name a subscription of this client',
    });
  if (found.position === null)
    throw new Problem('invalid_parameter', {
      field: 'subscription_id',
      message: 'must name a subscription with delivery STREAM; the service sends this one to its url',
    });
  const position = options.after === undefined ? found.position : positionOf(options.after, subscriptionId);
  if (position === undefined || position > found.position)
    throw new Problem('invalid_parameter', 'header.Last-Event-ID: must be the id of an event of this stream');
  const reader = randomUUID();
  await db.query(
    `update webhook_streams set reader = $3, read_at = $4, reader_until = statement_timestamp() + $5 * interval '1 ms'
     where client_id = $1 and subscription_id = $2`,
    [clientId, subscriptionId, reader, options.now, READER_LIFETIME_MS],
  );
  return { reader, position };
}

function positionOf(cursor: string, subscriptionId: string): number | undefined {
  const place = cursor.startsWith(`${subscriptionId}.`) ? cursor.slice(subscriptionId.length + 1) : '';
  return /^(0|[1-9]\d{0,14})$/.test(place) ? Number(place) : undefined;
}

/** Whether a reader still has the stream, and whether notifications are waiting for it. */
export async function lookAtStream(
  db: Db,
  key: StreamKey,
  reader: string,
): Promise<{ mine: boolean; waiting: boolean }> {
  const found = first(
    await db.query<{ waiting: boolean }>({
      name: 'webhooks-stream-look',
      text: `select exists (select from webhook_queue q
          where q.subscription_id = $2 and q.client_id = $1 and q.lease_owner is null and not q.ping) as waiting
        from webhook_streams t join subscriptions s on s.id = t.subscription_id and s.client_id = t.client_id
        where t.client_id = $1 and t.subscription_id = $2 and t.reader = $3 and s.deleted_at is null`,
      values: [key.clientId, key.subscriptionId, reader],
    }),
  );
  return { mine: found !== undefined, waiting: found?.waiting ?? false };
}

/**
 * Gives pending notifications their places in the stream, in the order of their events, and counts them as delivered. An event that is
 * still in the outbox holds back later ones, because they may concern the same entity.
 */
export async function takePending(pool: Pool, key: StreamKey, options: { reader: string; now: Date }): Promise<void> {
  const { clientId, subscriptionId } = key;
  await transaction(pool, async (tx) => {
    // A wrong estimate must not lead to reading days of notifications to find two hundred.
    await tx.query('set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_seqscan = off');
    const stream = first(
      await tx.query<{ position: number; active: boolean }>(
        `select t.position, s.active from webhook_streams t
         join subscriptions s on s.id = t.subscription_id and s.client_id = t.client_id
         where t.client_id = $1 and t.subscription_id = $2 and t.reader = $3 and s.deleted_at is null for update of t`,
        [clientId, subscriptionId, options.reader],
      ),
    );
    if (!stream) return;
    await tx.query(TAKE, [clientId, subscriptionId, stream.position, stream.active, options.now, MAX_BATCH_ROWS]);
    if (isDistributed(tx)) await announceTaken(tx, key, stream.position);
  });
}

async function announceTaken(tx: Transaction, { clientId, subscriptionId }: StreamKey, after: number): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    'select notification_id as id from webhook_stream_positions where client_id = $1 and subscription_id = $2 and position > $3',
    [clientId, subscriptionId, after],
  );
  await announceNotifications(
    tx,
    rows.map(({ id }) => id),
  );
}

const TAKE = `
  with taken as materialized (
    select q.notification_id, q.created_at, q.event_id, q.attempts + 1 as attempt_number, gen_random_uuid() as delivery_id
    from webhook_queue q
    join notifications n on n.id = q.notification_id and n.created_at = q.created_at and n.client_id = q.client_id
    where q.subscription_id = $2 and q.client_id = $1 and q.lease_owner is null and not q.ping and ($4 or n.type = 'PING')
      and q.event_id < coalesce((select min(o.event_id) from webhook_outbox o where o.client_id = $1), 9223372036854775807)
    order by q.event_id limit $6 for update of q),
  placed as materialized (
    select *, $3::bigint + row_number() over (order by event_id) as position from taken),
  gone as (
    delete from webhook_queue q using placed p where q.client_id = $1 and q.notification_id = p.notification_id),
  changed as (
    update notifications n set status = 'delivered', attempts_count = p.attempt_number, finished_at = $5
    from placed p where n.client_id = $1 and n.id = p.notification_id and n.created_at = p.created_at),
  attempted as (
    insert into attempts (notification_id, attempt_number, delivery_id, client_id, subscription_id, started_at, duration_ms, created_at)
    select notification_id, attempt_number, delivery_id, $1, $2, $5::timestamptz, 0, created_at from placed),
  sent as (
    insert into webhook_stream_positions
      (subscription_id, position, client_id, notification_id, created_at, attempt_number, delivery_id)
    select $2, position, $1, notification_id, created_at, attempt_number, delivery_id from placed)
  update webhook_streams t set position = t.position + (select count(*) from placed) where t.client_id = $1 and t.subscription_id = $2`;

/** The notifications with a place after `after`, in order; at most MAX_BATCH_ROWS. */
export async function readStream(db: Db, key: StreamKey, after: number): Promise<StreamedNotification[]> {
  const { rows } = await db.query<StreamedNotification>({
    name: 'webhooks-stream-read',
    text: `select p.position, n.id, n.type, p.attempt_number as "attemptNumber", p.delivery_id as "deliveryId", e.body
      from webhook_stream_positions p
      join notifications n on n.id = p.notification_id and n.created_at = p.created_at and n.client_id = p.client_id
      join webhook_events e on e.client_id = n.client_id and e.created_at = n.created_at and e.id = n.event_id
      where p.client_id = $1 and p.subscription_id = $2 and p.position > $3 order by p.position limit ${MAX_BATCH_ROWS}`,
    values: [key.clientId, key.subscriptionId, after],
  });
  return rows;
}

/** Records a sign of life of a reader. `gone`: it is the last one. */
export async function noteReader(
  db: Db,
  key: StreamKey,
  { reader, now, gone }: { reader: string; now: Date; gone: boolean },
): Promise<void> {
  // Citus does not accept a computed moment inside a `case`, so a null lifetime results in no moment.
  await db.query(
    `update webhook_streams set read_at = $4, reader_until = statement_timestamp() + $5::int * interval '1 ms'
     where client_id = $1 and subscription_id = $2 and reader = $3`,
    [key.clientId, key.subscriptionId, reader, now, gone ? null : READER_LIFETIME_MS],
  );
}

/** Streams that nobody has read for ten minutes, of any client. */
export async function unreadStreams(db: Db, now: Date): Promise<StreamKey[]> {
  const { rows } = await db.query<StreamKey>(
    `select t.client_id as "clientId", t.subscription_id as "subscriptionId" from webhook_streams t
     join subscriptions s on s.id = t.subscription_id and s.client_id = t.client_id
     where s.deleted_at is null and t.read_at < $1 and coalesce(t.reader_until < clock_timestamp(), true)`,
    [new Date(now.getTime() - MAX_UNREAD_MS)],
  );
  return rows;
}

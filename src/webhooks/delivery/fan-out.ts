import { isDistributed } from '../../database/cells/pool.ts';
import { type Db, type Pool, transaction } from '../../database/database.ts';
import { announceNotifications } from '../announcement.ts';
import { type DayWindow, within } from '../day-window.ts';
import type { NotificationType } from '../notification.ts';
import { type Delivery, readMissingBodies } from './delivery.ts';

export interface FanOut {
  /** The number of events taken from the outbox. */
  taken: number;
  /** Whether a client used its whole share, and so may have more events. */
  more: boolean;
  deliveries: Delivery[];
  /** Ids of subscriptions without room for all of their deliveries. The rest stay in the queue. */
  overflowed: string[];
}

export interface FanOutOptions {
  worker: number;
  window: DayWindow;
  /** The most events to take. */
  maxEvents: number;
  /** The approximate limit of notifications to make. An event makes one for each subscription. */
  maxNotifications: number;
  /** How many more deliveries each subscription may have. */
  rooms: ReadonlyMap<string, number>;
  /** The same for subscriptions that `rooms` does not name. */
  defaultRoom: number;
  now: Date;
}

interface FanOutRow {
  taken: number;
  more: boolean;
  id: string | null;
  client_id: string;
  subscription_id: string;
  type: NotificationType;
  /** Milliseconds since 1970. Reading a number takes a fifth of the time of reading a date. */
  created_ms: number;
  revision: number;
  body: string | null;
  traceparent: string | null;
  leased: boolean;
}

const MADE = `insert into notifications (id, client_id, subscription_id, event_id, type, status, created_at)
    select id, client_id, subscription_id, event_id, type, 'pending', created_at from matched`;
const queued = (worker: string, now: string) => `insert into webhook_queue
      (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping, lease_owner)
    select id, client_id, subscription_id, event_id, created_at, least(created_at, ${now}), 0, 0, false, case when place <= room then ${worker} end
    from matched`;

/** The steps that take events and match them. */
const TAKEN = `with recursive waiting as (
    (select client_id from webhook_outbox order by client_id limit 1)
    union all
    select (select o.client_id from webhook_outbox o where o.client_id > w.client_id order by o.client_id limit 1)
    from waiting w where w.client_id is not null),
  clients as materialized (select client_id from waiting where client_id is not null limit $1::int),
  -- A client with a thousand subscriptions takes a few events at a time, so that nobody waits behind its hundred thousand notifications.
  shares as materialized (
    select client_id, greatest(1, least($1::int / n, $7::int / (n * greatest(1, subscribed)))) as share
    from clients c cross join (select count(*) as n from clients) as counted cross join lateral (
      select count(*) as subscribed from subscriptions where client_id = c.client_id and deleted_at is null and active) s),
  picked as materialized (
    select o.place from shares c cross join lateral (
      select ctid as place from webhook_outbox where client_id = c.client_id order by event_id
      limit c.share for update skip locked) o),
  taken as materialized (
    delete from webhook_outbox where ctid = any(array(select place from picked)) returning event_id, client_id, type, created_at),
  placed as materialized (
    select t.*, s.id as subscription_id, s.revision, s.streamed, row_number() over (partition by s.id order by t.event_id) as place
    from taken t cross join lateral (
      select id, revision, delivery = 'STREAM' as streamed from subscriptions
      where client_id = t.client_id and deleted_at is null and active and t.type = any(types) offset 0) s),
  matched as materialized (
    select notification_id(event_id, subscription_id, created_at) as id, event_id, client_id, type::text as type, created_at,
      subscription_id, revision, place, streamed,
      -- What a client reads itself waits in the queue for its reader.
      case when streamed then 0 when place <= $6::int then $6::int else coalesce(($4::jsonb ->> subscription_id::text)::int, $3::int) end as room
    from placed)`;

/** The matched notifications with what is to be sent. The condition of the join follows it. */
const chosen = (window: DayWindow, more = '') => `select (select count(*)::int from taken) as taken,
    exists (select from shares s where s.share <= (select count(*) from taken t where t.client_id = s.client_id)) as more,
    m.id, m.client_id, m.subscription_id, m.type, date_part('epoch', m.created_at) * 1000 as created_ms, m.revision,
    m.place <= m.room as leased, e.body, e.traceparent${more}
  from (select) as always left join (matched m left join webhook_events e
    on e.client_id = m.client_id and e.created_at = m.created_at and e.id = m.event_id and m.place <= m.room
      and ${within('e.created_at', window)})`;

/**
 * The steps of the statement, in order: the clients with events, each client's share of the batch, its events (taken from the outbox), the
 * subscriptions of each event, the room of each subscription, the notifications, and their queue rows.
 */
const fanOutStatement = (window: DayWindow) => `
  ${TAKEN},
  made as (
    ${MADE}),
  queued as (
    ${queued('$2::int', '$5::timestamptz')})
  ${chosen(window)} on m.place <= m.room + 1 and not m.streamed
  order by m.event_id`;

/** The part that a Citus worker can do in one statement. It cannot insert what follows from a recursive query. */
const takeStatement = (window: DayWindow) => `
  ${TAKEN}
  ${chosen(window, ', m.event_id, m.place, m.room, m.streamed, m.created_at::text as moment, $2::int as worker, $5::timestamptz as now')} on true
  order by m.event_id`;

/** The rows that `takeStatement` returned. */
const GIVEN = `with matched as (select * from json_to_recordset($1) as m(id uuid, client_id text, subscription_id uuid, event_id bigint,
  type text, moment timestamptz, place int, room int) cross join lateral (select moment as created_at) at)`;

/**
 * Takes events from the outbox, in fair shares for the clients that have some, and makes their notifications. As many as a subscription has
 * room for are leased to this worker. The others stay in the queue.
 */
export async function fanOut(db: Db, options: FanOutOptions): Promise<FanOut> {
  // No look-up is needed for up to this many.
  let leastRoom = options.defaultRoom;
  for (const room of options.rooms.values()) leastRoom = Math.min(leastRoom, room);
  const values = [
    options.maxEvents,
    options.worker,
    options.defaultRoom,
    JSON.stringify(Object.fromEntries(options.rooms)),
    options.now,
    leastRoom,
    options.maxNotifications,
  ];
  const { name } = options.window;
  const rows = isDistributed(db)
    ? await fanOutDistributed(db as Pool, options, values)
    : (await db.query<FanOutRow>({ name: `webhooks-fan-out-${name}`, text: fanOutStatement(options.window), values }))
        .rows;
  const result: FanOut = { taken: rows[0]?.taken ?? 0, more: rows[0]?.more ?? false, deliveries: [], overflowed: [] };
  for (const row of rows) {
    if (row.id === null) continue;
    if (row.leased) result.deliveries.push(toDelivery(row, row.id));
    else result.overflowed.push(row.subscription_id);
  }
  await readMissingBodies(db, result.deliveries);
  return result;
}

/** Does the same as one transaction of three statements, in three round trips. @returns the rows of the single statement */
async function fanOutDistributed(pool: Pool, options: FanOutOptions, values: unknown[]): Promise<FanOutRow[]> {
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query<FanOutRow & { place: number; room: number; streamed: boolean }>({
      name: `webhooks-take-${options.window.name}`,
      text: takeStatement(options.window),
      values,
    });
    const matched = rows.filter(({ id }) => id !== null);
    if (matched.length === 0) return rows;
    const given = JSON.stringify(matched.map(({ body: _body, ...row }) => row));
    tx.later({ name: 'webhooks-made', text: `${GIVEN} ${MADE}`, values: [given] });
    const text = `${GIVEN} ${queued('$2::int', '$3::timestamptz')}`;
    tx.later({ name: 'webhooks-queued', text, values: [given, options.worker, options.now] });
    await announceNotifications(
      tx,
      matched.flatMap(({ id }) => id ?? []),
    );
    return rows.filter(({ id, place, room, streamed }) => id === null || (place <= room + 1 && !streamed));
  });
}

function toDelivery(row: FanOutRow, id: string): Delivery {
  return {
    id,
    clientId: row.client_id,
    subscriptionId: row.subscription_id,
    type: row.type,
    createdAt: new Date(Math.round(row.created_ms)),
    attempts: 0,
    roundAttempts: 0,
    revision: row.revision,
    body: row.body ?? '',
    traceparent: row.traceparent,
  };
}

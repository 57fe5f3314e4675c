import { addDays } from '../calendar.ts';
import type { Db } from '../database.ts';
import type { NotificationType } from './notification.ts';
import type { Outcome } from './outcome.ts';

/**
 * The statements of the delivery engine: each works on a batch, none is run for a single delivery (docs/webhooks.md, How it works).
 * They run on connections of their own (`setUpConnection`).
 */

/** A notification that this worker holds a lease on. */
export interface Delivery {
  id: string;
  clientId: string;
  subscriptionId: string;
  type: NotificationType;
  createdAt: Date;
  /** Attempts made so far, and those of the present round. */
  attempts: number;
  roundAttempts: number;
  /** The subscription as of this change has been read. */
  revision: number;
  body: string;
}

/** Days before and after today whose partitions the statements look at; what is older goes another, slower way. */
const DAYS_BACK = 7;
const DAYS_AHEAD = 2;

/** The days a statement is made for, as a piece of its name and as bounds in its text: partitions outside cost nothing, not even planning. */
export interface Window {
  name: string;
  from: string;
  to: string;
  /** The bounds in milliseconds since 1970. */
  since: number;
  until: number;
}

/** @param now service time; days are UTC days, as the partitions */
export function windowAround(now: Date): Window {
  const day = now.toISOString().slice(0, 10);
  const [from, to] = [`${addDays(day, -DAYS_BACK)}T00:00:00Z`, `${addDays(day, DAYS_AHEAD)}T00:00:00Z`];
  return { name: day, from, to, since: Date.parse(from), until: Date.parse(to) };
}

export function inWindow(window: Window, createdAt: Date): boolean {
  const at = createdAt.getTime();
  return at >= window.since && at < window.until;
}

function within(column: string, window: Window | undefined): string {
  return window ? `${column} >= '${window.from}' and ${column} < '${window.to}'` : 'true';
}

/**
 * For every connection of the engine. Each of its statements finds a few hundred rows by key; an estimate that goes wrong (of a queue that
 * was empty when statistics were taken, of an array parameter) must never turn one into a scan of a day or of a dead endpoint's backlog.
 * They do not wait for the disk: when the database's machine dies, what they did in the last moments is done again (at least once, the same ids),
 * while the events themselves were committed with everything that their transactions wait for. One whose connection is gone ends within a second.
 */
export const setUpConnection = `set enable_hashjoin = off; set enable_mergejoin = off; set enable_seqscan = off; set enable_bitmapscan = off;
  set jit = off; set plan_cache_mode = force_generic_plan; set synchronous_commit = off; set client_connection_check_interval = '1s'`;

export interface FanOut {
  /** Markers taken. */
  taken: number;
  /** Whether a client took as many as it was let, and may have more. */
  more: boolean;
  deliveries: Delivery[];
  /** Subscriptions some of whose deliveries were left in the queue, because they had no room. */
  overflowed: { subscriptionId: string; clientId: string }[];
}

interface FanOutRow {
  taken: number;
  more: boolean;
  id: string | null;
  client_id: string;
  subscription_id: string;
  type: NotificationType;
  /** Milliseconds since 1970: read as a number, in a fifth of the time of a date. */
  created_ms: number;
  revision: number;
  body: string | null;
  leased: boolean;
}

/**
 * Takes up to `limit` events, in turns of the clients that have some, and makes their notifications, about `most`: leased to this worker as
 * far as there is room for the subscription, the rest left in the queue.
 * @param rooms how many more each subscription may have; for those not named, `defaultRoom`
 */
export async function fanOut(
  db: Db,
  options: {
    worker: number;
    window: Window;
    limit: number;
    most: number;
    defaultRoom: number;
    rooms: ReadonlyMap<string, number>;
    now: Date;
  },
): Promise<FanOut> {
  // Up to it, nothing has to be looked up.
  let leastRoom = options.defaultRoom;
  for (const room of options.rooms.values()) leastRoom = Math.min(leastRoom, room);
  const { rows } = await db.query<FanOutRow>({
    name: `webhooks-fan-out-${options.window.name}`,
    text: `with recursive waiting as (
        (select client_id from delivery.markers order by client_id limit 1)
        union all
        select (select m.client_id from delivery.markers m where m.client_id > w.client_id order by m.client_id limit 1)
        from waiting w where w.client_id is not null),
      clients as materialized (select client_id from waiting where client_id is not null limit $1::int),
      -- A client with a thousand subscriptions takes a few events at a time, so that nobody waits behind its hundred thousand notifications.
      shares as materialized (
        select client_id, greatest(1, least($1::int / n, $7::int / (n * greatest(1, subscribed)))) as share
        from clients c cross join (select count(*) as n from clients) as counted cross join lateral (
          select count(*) as subscribed from webhooks.subscriptions where client_id = c.client_id and deleted_at is null and active) s),
      picked as materialized (
        select m.place from shares c cross join lateral (
          select ctid as place from delivery.markers where client_id = c.client_id order by event_id
          limit c.share for update skip locked) m),
      taken as materialized (
        delete from delivery.markers where ctid = any(array(select place from picked)) returning event_id, client_id, type, created_at),
      placed as materialized (
        select t.*, s.id as subscription_id, s.revision, row_number() over (partition by s.id order by t.event_id) as place
        from taken t cross join lateral (
          select id, revision from webhooks.subscriptions
          where client_id = t.client_id and deleted_at is null and active and t.type = any(types) offset 0) s),
      matched as materialized (
        select delivery.notification_id(event_id, subscription_id, created_at) as id, event_id, client_id, type::text as type, created_at,
          subscription_id, revision, place, case when place <= $6::int then $6::int else coalesce(($4::jsonb ->> subscription_id::text)::int, $3::int) end as room
        from placed),
      made as (
        insert into webhooks.notifications (id, client_id, subscription_id, event_id, type, status, created_at)
        select id, client_id, subscription_id, event_id, type, 'pending', created_at from matched),
      queued as (
        insert into delivery.queue (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping, lease_owner)
        select id, client_id, subscription_id, event_id, created_at, least(created_at, $5::timestamptz), 0, 0, false, case when place <= room then $2::int end from matched)
      select (select count(*)::int from taken) as taken,
        exists (select from shares s where s.share <= (select count(*) from taken t where t.client_id = s.client_id)) as more, m.id, m.client_id, m.subscription_id, m.type, date_part('epoch', m.created_at) * 1000 as created_ms, m.revision,
        m.place <= m.room as leased, e.body
      from (select) as always left join (matched m left join delivery.events e
        on e.client_id = m.client_id and e.created_at = m.created_at and e.id = m.event_id and m.place <= m.room and ${within('e.created_at', options.window)})
        on m.place <= m.room + 1
      order by m.event_id`,
    values: [
      options.limit,
      options.worker,
      options.defaultRoom,
      JSON.stringify(Object.fromEntries(options.rooms)),
      options.now,
      leastRoom,
      options.most,
    ],
  });
  const result: FanOut = {
    taken: rows[0]?.taken ?? 0,
    more: rows[0]?.more ?? false,
    deliveries: [],
    overflowed: [],
  };
  const unread: Delivery[] = [];
  for (const row of rows) {
    if (row.id === null) continue;
    if (!row.leased) {
      result.overflowed.push({ subscriptionId: row.subscription_id, clientId: row.client_id });
      continue;
    }
    const delivery: Delivery = {
      id: row.id,
      clientId: row.client_id,
      subscriptionId: row.subscription_id,
      type: row.type,
      createdAt: new Date(Math.round(row.created_ms)),
      attempts: 0,
      roundAttempts: 0,
      revision: row.revision,
      body: row.body ?? '',
    };
    if (row.body === null) unread.push(delivery);
    result.deliveries.push(delivery);
  }
  await readBodies(db, unread);
  return result;
}

interface ClaimRow {
  id: string;
  client_id: string;
  subscription_id: string;
  type: NotificationType;
  created_at: Date;
  attempts: number;
  round_attempts: number;
  revision: number;
  body: string | null;
}

const CLAIMED = (
  window: Window,
) => `select l.notification_id as id, l.client_id, l.subscription_id, l.created_at, l.attempts, l.round_attempts,
    s.revision, e.type, e.body
  from leased l join webhooks.subscriptions s on s.id = l.subscription_id
  left join delivery.events e on e.client_id = l.client_id and e.created_at = l.created_at and e.id = l.event_id and ${within('e.created_at', window)}
  order by l.due_at, l.event_id`;

/**
 * Leases what is due of the subscriptions named, for each at most as many as it has room for. An index leads to the first due row of each:
 * nothing of any other subscription is looked at, however much of it waits.
 */
export async function claim(
  db: Db,
  options: { worker: number; window: Window; now: Date; wanted: ReadonlyMap<string, number> },
): Promise<Delivery[]> {
  const { rows } = await db.query<ClaimRow>({
    name: `webhooks-claim-${options.window.name}`,
    text: `with picked as materialized (
        select q.place from unnest($3::uuid[], $4::int[]) as w(id, room) cross join lateral (
          select ctid as place from delivery.queue
          where subscription_id = w.id and lease_owner is null and not ping and due_at <= $2::timestamptz
          order by due_at limit w.room for update skip locked) q),
      leased as (update delivery.queue set lease_owner = $1::int where ctid = any(array(select place from picked)) returning *)
      ${CLAIMED(options.window)}`,
    values: [options.worker, options.now, [...options.wanted.keys()], [...options.wanted.values()]],
  });
  return toDeliveries(db, rows);
}

/** As `claim`, for the pings of any subscription, active or not, but those that are `full`. */
export async function claimPings(
  db: Db,
  options: { worker: number; window: Window; now: Date; full: readonly string[]; limit: number },
): Promise<Delivery[]> {
  const { rows } = await db.query<ClaimRow>({
    name: `webhooks-claim-pings-${options.window.name}`,
    text: `with picked as materialized (
        select ctid as place from delivery.queue
        where ping and lease_owner is null and due_at <= $2::timestamptz and subscription_id <> all($3::uuid[])
        order by due_at limit $4 for update skip locked),
      leased as (update delivery.queue set lease_owner = $1::int where ctid = any(array(select place from picked)) returning *)
      ${CLAIMED(options.window)}`,
    values: [options.worker, options.now, options.full, options.limit],
  });
  return toDeliveries(db, rows);
}

async function toDeliveries(db: Db, rows: ClaimRow[]): Promise<Delivery[]> {
  const unread: Delivery[] = [];
  const deliveries = rows.map((row) => {
    const delivery: Delivery = {
      id: row.id,
      clientId: row.client_id,
      subscriptionId: row.subscription_id,
      type: row.type,
      createdAt: row.created_at,
      attempts: row.attempts,
      roundAttempts: row.round_attempts,
      revision: row.revision,
      body: row.body ?? '',
    };
    if (row.body === null) unread.push(delivery);
    return delivery;
  });
  await readBodies(db, unread);
  return deliveries;
}

/** Reads what lies outside the window of days, from every partition. */
async function readBodies(db: Db, deliveries: Delivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const { rows } = await db.query<{ id: string; type: NotificationType; body: string }>(
    `select n.id, e.type, e.body from unnest($1::uuid[], $2::timestamptz[]) as d(id, created_at)
     join webhooks.notifications n on n.id = d.id and n.created_at = d.created_at
     join delivery.events e on e.client_id = n.client_id and e.created_at = n.created_at and e.id = n.event_id`,
    [deliveries.map((delivery) => delivery.id), deliveries.map((delivery) => delivery.createdAt)],
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  for (const delivery of deliveries) {
    const row = found.get(delivery.id);
    if (row) Object.assign(delivery, { type: row.type, body: row.body });
  }
}

/** What became of a delivery that was attempted. */
export interface WorkerResult {
  /** The id under which the worker leased it. */
  worker: number;
  delivery: Delivery;
  deliveryId: string;
  startedAt: Date;
  outcome: Outcome;
  status: 'pending' | 'delivered' | 'failed';
  /** When it is tried again; for `pending`. */
  dueAt: Date | null;
  now: Date;
}

/** An array literal of what needs no quotes (identifiers, numbers, words): the driver quotes everything, which takes ten times as long. */
function plain(
  results: readonly WorkerResult[],
  value: (one: WorkerResult) => string | number | null | undefined,
): string {
  let text = '';
  for (const one of results) text += `${text === '' ? '{' : ','}${value(one) ?? 'NULL'}`;
  return text === '' ? '{}' : `${text}}`;
}

/**
 * Writes results: attempts, the state of their notifications, and the queue. Fenced by the lease: where another worker has taken a delivery
 * over, its state is left alone and only the attempt is recorded. What was asked for again during the attempt (redelivery.ts: the round's attempts
 * are none) is not given up, but due at once.
 * @param window undefined for results outside of it
 */
export async function flushResults(
  db: Db,
  worker: number,
  window: Window | undefined,
  results: readonly WorkerResult[],
): Promise<void> {
  await db.query({
    name: `webhooks-flush-${window?.name ?? 'any'}`,
    text: `with result as materialized (
        select id, to_timestamp(created_ms / 1000) as created_at, client_id, subscription_id, status, to_timestamp(due_ms / 1000) as due_at, attempts,
          round_attempts, delivery_id, to_timestamp(started_ms / 1000) as started_at, duration_ms, status_code, headers, body, reason,
          to_timestamp(now_ms / 1000) as now
        from unnest($2::uuid[], $3::float8[], $4::text[], $5::uuid[], $6::text[], $7::float8[], $8::int[], $9::int[], $10::uuid[],
          $11::float8[], $12::int[], $13::int[], $14::json[], $15::text[], $16::text[], $17::float8[])
        as r(id, created_ms, client_id, subscription_id, status, due_ms, attempts, round_attempts, delivery_id,
          started_ms, duration_ms, status_code, headers, body, reason, now_ms)),
      done as (
        delete from delivery.queue q using result r
        where q.notification_id = r.id and q.lease_owner = $1::int and q.attempts = r.attempts - 1
          and (r.status = 'delivered' or r.status = 'failed' and q.round_attempts = r.round_attempts - 1)
        returning r.id, r.created_at, r.status, r.attempts, r.now),
      again as (
        update delivery.queue q set lease_owner = null, attempts = r.attempts,
          due_at = case when q.round_attempts = r.round_attempts - 1 then coalesce(r.due_at, r.now) else r.now end,
          round_attempts = case when q.round_attempts = r.round_attempts - 1 then r.round_attempts else 0 end
        from result r where q.notification_id = r.id and q.lease_owner = $1::int and q.attempts = r.attempts - 1
          and r.status <> 'delivered' and not exists (select from done d where d.id = r.id)
        returning r.id, r.created_at, 'pending' as status, r.attempts, r.now),
      owned as materialized (select * from done union all select * from again),
      changed as (
        update webhooks.notifications n set status = o.status, attempts_count = o.attempts,
          finished_at = case when o.status <> 'pending' then o.now end
        from owned o where n.id = o.id and n.created_at = o.created_at and ${within('n.created_at', window)})
      insert into webhooks.attempts (notification_id, attempt_number, delivery_id, client_id, subscription_id, started_at, duration_ms,
        status_code, headers, body, reason, created_at)
      select id, attempts, delivery_id, client_id, subscription_id, started_at, duration_ms, status_code, headers, body, reason, created_at from result
      on conflict do nothing`,
    values: [
      worker,
      plain(results, (one) => one.delivery.id),
      plain(results, (one) => one.delivery.createdAt.getTime()),
      results.map((one) => one.delivery.clientId),
      plain(results, (one) => one.delivery.subscriptionId),
      plain(results, (one) => one.status),
      plain(results, (one) => one.dueAt?.getTime()),
      plain(results, (one) => one.delivery.attempts + 1),
      plain(results, (one) => one.delivery.roundAttempts + 1),
      plain(results, (one) => one.deliveryId),
      plain(results, (one) => one.startedAt.getTime()),
      plain(results, (one) => one.outcome.durationMs),
      plain(results, (one) => one.outcome.statusCode),
      results.map((one) => (one.outcome.headers ? JSON.stringify(one.outcome.headers) : null)),
      results.map((one) => one.outcome.body),
      plain(results, (one) => one.outcome.reason),
      plain(results, (one) => one.now.getTime()),
    ],
  });
}

/** Puts leased deliveries back that were not attempted. */
export async function release(db: Db, worker: number, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query({
    name: 'webhooks-release',
    text: 'update delivery.queue set lease_owner = null where notification_id = any($2::uuid[]) and lease_owner = $1::int',
    values: [worker, ids],
  });
}

/**
 * The subscriptions that have something in the queue which nobody holds, and when the first of it is due. Steps from subscription to
 * subscription in the index: its cost is their number, not how much they have waiting. At most MAX_DISCOVERED.
 * @param after the subscription behind which it begins
 */
export async function discover(db: Db, after?: string): Promise<{ subscriptionId: string; dueAt: Date }[]> {
  const { rows } = await db.query<{ subscription_id: string; due_at: Date }>({
    name: 'webhooks-discover',
    text: `with recursive waiting as (
        (select subscription_id, due_at from delivery.queue where lease_owner is null and not ping and subscription_id > $2::uuid
          order by subscription_id, due_at limit 1)
        union all
        select next.subscription_id, next.due_at from waiting w cross join lateral (
          select q.subscription_id, q.due_at from delivery.queue q where q.lease_owner is null and not q.ping and q.subscription_id > w.subscription_id
          order by q.subscription_id, q.due_at limit 1) next)
      select subscription_id, due_at from waiting limit $1`,
    values: [MAX_DISCOVERED, after ?? BEFORE_ALL],
  });
  return rows.map((row) => ({ subscriptionId: row.subscription_id, dueAt: row.due_at }));
}

/** Subscriptions that one discovery finds at most. */
export const MAX_DISCOVERED = 20_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Cancels what waits for a deleted subscription, up to `limit` of it, and gives how many that were. */
export async function cancelWaiting(db: Db, subscriptionId: string, limit: number, now: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'webhooks-cancel',
    text: `with gone as (
        delete from delivery.queue where ctid = any(array(
          select ctid from delivery.queue where subscription_id = $1 and lease_owner is null and not ping limit $2 for update skip locked))
        returning notification_id, created_at)
      update webhooks.notifications n set status = 'cancelled', finished_at = $3 from gone g
      where n.id = g.notification_id and n.created_at = g.created_at`,
    values: [subscriptionId, limit, now],
  });
  return rowCount ?? 0;
}

/** Cancels deliveries that this worker holds: their subscription was deleted, or retention has dropped their event. */
export async function cancelLeased(db: Db, worker: number, ids: readonly string[], now: Date): Promise<void> {
  await db.query({
    name: 'webhooks-cancel-leased',
    text: `with gone as (
        delete from delivery.queue where notification_id = any($2::uuid[]) and lease_owner = $1::int returning notification_id, created_at)
      update webhooks.notifications n set status = 'cancelled', finished_at = $3 from gone g
      where n.id = g.notification_id and n.created_at = g.created_at`,
    values: [worker, ids, now],
  });
}

/** Puts back every lease of this worker on something it does not hold, and those of no worker: after a statement whose answer was lost. */
export async function releaseUnknown(db: Db, worker: number, held: readonly string[]): Promise<number> {
  const { rowCount } = await db.query({
    text: `update delivery.queue set lease_owner = null where lease_owner is not null and
      (lease_owner = $1::int and notification_id not in (select unnest($2::uuid[])) or lease_owner not in (select id from delivery.workers))`,
    values: [worker, held],
  });
  return rowCount ?? 0;
}

import { type Pool, type Transaction, transaction } from '../database/database.ts';
import type { Note } from './copies.ts';
import type { PersonEraser } from './person.ts';

/** The number of events that one transaction examines. */
const BATCH_ROWS = 500;

/** An event whose body contains the person. */
interface FoundEvent {
  client_id: string;
  created_at: Date;
  id: number;
  body: string;
}

/**
 * Cancels notifications that contain the person and were not delivered: those that wait, and those that have failed. Empties the bodies of
 * their events, and of events that a subscription has missed, because a replay would send them. What every receiver has got stays.
 * @returns the number of events that are left, because a worker is sending them right now
 */
export async function cancelNotifications(
  pool: Pool,
  eraser: PersonEraser,
  { now, note }: { now: Date; note: Note },
): Promise<number> {
  let left = 0;
  for (let last: FoundEvent | undefined; ; ) {
    const found = await transaction(pool, async (tx) => {
      const events = await findEvents(tx, eraser, last);
      const theirs = events.filter(({ body }) => eraser.text(body) !== body);
      if (theirs.length > 0) left += await cancelEvents(tx, theirs, { now, note });
      return events;
    });
    if (found.length < BATCH_ROWS) return left;
    last = found.at(-1);
  }
}

async function findEvents(tx: Transaction, eraser: PersonEraser, last?: FoundEvent): Promise<FoundEvent[]> {
  const { rows } = await tx.query<FoundEvent>(
    `select client_id, created_at, id, body from webhook_events
     where body ~* $1 ${last ? 'and (client_id, created_at, id) > ($2, $3, $4)' : ''} order by client_id, created_at, id limit ${BATCH_ROWS}`,
    [eraser.searchPattern, ...(last ? [last.client_id, last.created_at, last.id] : [])],
  );
  return rows;
}

/** The events of the parameters $1 to $3. */
const EVENTS = 'unnest($1::text[], $2::timestamptz[], $3::bigint[]) as k(client_id, created_at, id)';

/** @returns the number of events that a worker is sending */
async function cancelEvents(
  tx: Transaction,
  events: FoundEvent[],
  { now, note }: { now: Date; note: Note },
): Promise<number> {
  const keys = [
    events.map((event) => event.client_id),
    events.map((event) => event.created_at),
    events.map((event) => event.id),
  ];
  // In the order in which the delivery engine locks.
  const { rows: taken } = await tx.query<{ event_id: number }>(
    `delete from webhook_outbox o using ${EVENTS} where o.client_id = k.client_id and o.created_at = k.created_at and o.event_id = k.id
     returning o.event_id`,
    keys,
  );
  const { rows: told } = await tx.query<{ event_id: number; id: string; created_at: Date }>(
    `select k.id as event_id, notification_id(k.id, s.id, k.created_at) as id, k.created_at
     from ${EVENTS} join subscriptions s on s.client_id = k.client_id`,
    keys,
  );
  const ids = told.map(({ id }) => id);
  const { rows: waiting } = await tx.query<{ id: string }>(
    `delete from webhook_queue where ctid = any(array(
       select ctid from webhook_queue where notification_id = any($1::uuid[]) and lease_owner is null for update skip locked))
     returning notification_id as id`,
    [ids],
  );
  const { rowCount: cancelled } = await tx.query(
    `update notifications n set status = 'cancelled', finished_at = $3 from unnest($1::uuid[], $2::timestamptz[]) as k(id, created_at)
     where n.id = k.id and n.created_at = k.created_at and (n.status = 'failed' or n.id = any($4::uuid[]))`,
    [ids, told.map(({ created_at: createdAt }) => createdAt), now, waiting.map(({ id }) => id)],
  );
  const { rows: sent } = await tx.query<{ id: string }>(
    'select notification_id as id from webhook_queue where notification_id = any($1::uuid[])',
    [ids],
  );
  const sending = new Set(sent.map(({ id }) => id));
  const held = new Set(told.filter(({ id }) => sending.has(id)).map((each) => each.event_id));
  const emptied = await emptyBodies(tx, keys, {
    held: [...held],
    taken: taken.map((each) => each.event_id),
  });
  await note(tx, (cancelled ?? 0) + emptied);
  return held.size;
}

/**
 * Empties the bodies of events that somebody could still be sent.
 * @param options events by their numbers, which are unique in a cell. `held`: their bodies stay; `taken`: nobody has a notification yet
 */
async function emptyBodies(
  tx: Transaction,
  keys: unknown[][],
  { held, taken }: { held: number[]; taken: number[] },
): Promise<number> {
  const { rowCount } = await tx.query(
    `update webhook_events e set body = '' from ${EVENTS}
     where e.client_id = k.client_id and e.created_at = k.created_at and e.id = k.id and e.id <> all($4::bigint[])
       and (e.id = any($5::bigint[])
         or exists (select from subscriptions s join notifications n
             on n.id = notification_id(k.id, s.id, k.created_at) and n.created_at = k.created_at
           where s.client_id = k.client_id and n.status in ('failed', 'cancelled'))
         -- What it missed of the types that it has or had.
         or exists (select from subscriptions s where s.client_id = k.client_id and s.deleted_at is null and s.created_at <= k.created_at
           and (e.type = any(s.types::text[]) or s.former_types::text like '%"' || e.type || '"%')
           and not exists (select from notifications n
             where n.id = notification_id(k.id, s.id, k.created_at) and n.created_at = k.created_at)))`,
    [...keys, held, taken],
  );
  return rowCount ?? 0;
}

import type { Db } from '../../database/database.ts';
import { type DayWindow, within } from '../day-window.ts';
import type { NotificationType } from '../notification.ts';
import { type Delivery, readMissingBodies } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';

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
  traceparent: string | null;
}

/** Leases the rows that `picked` names, and reads what is to be sent. */
const leasePicked = (window: DayWindow) => `
  leased as (update webhook_queue set lease_owner = $1::int where ctid = any(array(select place from picked)) returning *)
  select l.notification_id as id, l.client_id, l.subscription_id, l.created_at, l.attempts,
    greatest(l.round_attempts, 0) as round_attempts, s.revision, e.type, e.body, e.traceparent
  from leased l join subscriptions s on s.id = l.subscription_id
  left join webhook_events e on e.client_id = l.client_id and e.created_at = l.created_at and e.id = l.event_id
    and ${within('e.created_at', window)}
  order by l.due_at, l.event_id`;

/**
 * Leases due deliveries of the subscriptions in `wanted`, at most the given number for each. An index leads to the first due row of each,
 * so the backlog of other subscriptions does not matter.
 */
export async function claim(
  db: Db,
  options: { worker: number; window: DayWindow; now: Date; wanted: ReadonlyMap<string, number> },
): Promise<Delivery[]> {
  const { rows } = await db.query<ClaimRow>({
    name: `webhooks-claim-${options.window.name}`,
    text: `with picked as materialized (
        select q.place from unnest($3::uuid[], $4::int[]) as w(id, room) cross join lateral (
          select ctid as place from webhook_queue
          where subscription_id = w.id and lease_owner is null and not ping and due_at <= $2::timestamptz
          order by due_at limit w.room for update skip locked) q),
      ${leasePicked(options.window)}`,
    values: [options.worker, options.now, [...options.wanted.keys()], [...options.wanted.values()]],
  });
  return toDeliveries(db, rows);
}

/** Leases due pings of any subscription, active or not, except the subscriptions in `full`. */
export async function claimPings(
  db: Db,
  options: { worker: number; window: DayWindow; now: Date; full: readonly string[]; limit: number },
): Promise<Delivery[]> {
  const { rows } = await db.query<ClaimRow>({
    name: `webhooks-claim-pings-${options.window.name}`,
    text: `with picked as materialized (
        select ctid as place from webhook_queue
        where ping and lease_owner is null and due_at <= $2::timestamptz and subscription_id <> all($3::uuid[])
        order by due_at limit $4 for update skip locked),
      ${leasePicked(options.window)}`,
    values: [options.worker, options.now, options.full, options.limit],
  });
  return toDeliveries(db, rows);
}

async function toDeliveries(db: Db, rows: readonly ClaimRow[]): Promise<Delivery[]> {
  const deliveries = rows.map((row) => ({
    id: row.id,
    clientId: row.client_id,
    subscriptionId: row.subscription_id,
    type: row.type,
    createdAt: row.created_at,
    attempts: row.attempts,
    roundAttempts: row.round_attempts,
    revision: row.revision,
    body: row.body ?? '',
    traceparent: row.traceparent,
  }));
  await readMissingBodies(db, deliveries);
  return deliveries;
}

/** The most deliveries that one statement claims. */
const MAX_CLAIMED = 500;

/** Decides whose deliveries are claimed next. It goes from client to client, so that the backlog of one does not delay the others. */
export class ClaimTurns {
  readonly #endpoints: Endpoints;
  /** The client whose turn was last; the empty text after every client has had its turn. */
  #last = '';

  constructor(endpoints: Endpoints) {
    this.#endpoints = endpoints;
  }

  /**
   * How many deliveries to claim for which subscriptions, beginning with the client after the last one.
   * @param now milliseconds of service time
   */
  next(now: number): Map<string, number> {
    const candidates: { endpoint: Endpoint; room: number }[] = [];
    for (const endpoint of this.#endpoints.all()) {
      if (!endpoint.mayClaim(now)) continue;
      const room = this.#endpoints.room(endpoint);
      if (room > 0) candidates.push({ endpoint, room });
    }
    const hadTurn = (clientId: string) => (clientId > this.#last ? 0 : 1);
    candidates.sort((a, b) => {
      const [one, other] = [a.endpoint.settings.clientId, b.endpoint.settings.clientId];
      return hadTurn(one) - hadTurn(other) || (one < other ? -1 : 1);
    });
    const wanted = new Map<string, number>();
    let left = MAX_CLAIMED;
    for (const { endpoint, room } of candidates) {
      if (left <= 0) break;
      wanted.set(endpoint.id, Math.min(room, left));
      left -= room;
      this.#last = endpoint.settings.clientId;
    }
    if (left > 0) this.#last = '';
    return wanted;
  }
}

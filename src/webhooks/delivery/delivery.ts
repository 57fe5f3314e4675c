import type { Db } from '../../database/database.ts';
import type { NotificationType } from '../notification.ts';

/** A notification that this worker holds a lease on. */
export interface Delivery {
  id: string;
  clientId: string;
  subscriptionId: string;
  type: NotificationType;
  createdAt: Date;
  /** Attempts made so far, in total and in the current round. */
  attempts: number;
  roundAttempts: number;
  /** The revision of the subscription at the time of the lease. */
  revision: number;
  /** The empty text if the event is no longer kept. */
  body: string;
  /** The trace span that caused the event. */
  traceparent: string | null;
}

/**
 * The settings of every connection that runs the engine's statements. Each statement finds a few hundred rows by key. A wrong estimate (of
 * a queue that was empty when statistics were taken, or of an array parameter) must never turn one into a scan of a day or of a dead
 * endpoint's backlog.
 *
 * The statements do not wait for the disk. If the database's machine dies, the work of the last moments is repeated with the same ids:
 * delivery is at least once. The events themselves were committed durably. A statement whose connection is gone ends within a second.
 */
export const CONNECTION_SETTINGS = `set enable_hashjoin = off; set enable_mergejoin = off; set enable_seqscan = off;
  set enable_bitmapscan = off; set synchronous_commit = off; set client_connection_check_interval = '1s'`;

/** Reads the bodies that are outside the window of days, from all partitions. */
export async function readMissingBodies(db: Db, deliveries: readonly Delivery[]): Promise<void> {
  const missing = deliveries.filter((delivery) => delivery.body === '');
  if (missing.length === 0) return;
  const { rows } = await db.query<Pick<Delivery, 'id' | 'type' | 'body' | 'traceparent'>>(
    `select n.id, e.type, e.body, e.traceparent from unnest($1::uuid[], $2::timestamptz[]) as d(id, created_at)
     join notifications n on n.id = d.id and n.created_at = d.created_at
     join webhook_events e on e.client_id = n.client_id and e.created_at = n.created_at and e.id = n.event_id`,
    [missing.map((delivery) => delivery.id), missing.map((delivery) => delivery.createdAt)],
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  for (const delivery of missing) {
    const row = found.get(delivery.id);
    if (row) Object.assign(delivery, { type: row.type, body: row.body, traceparent: row.traceparent });
  }
}

import { type Pool, transaction } from '../database/database.ts';
import type { Note } from './copies.ts';
import type { PersonEraser } from './person.ts';

/** The number of deliveries that one transaction cancels. */
const BATCH_ROWS = 500;

/**
 * Cancels undelivered notifications that contain the person, and empties their bodies. Events that nobody has taken yet do not become
 * notifications. Notifications that a worker is sending right now wait for its result.
 */
export async function cancelNotifications(
  pool: Pool,
  eraser: PersonEraser,
  { now, note }: { now: Date; note: Note },
): Promise<void> {
  const found = eraser.searchPattern;
  await transaction(pool, async (tx) => {
    const { rowCount } = await tx.query(
      `with gone as (delete from webhook_outbox o using webhook_events e
         where e.client_id = o.client_id and e.created_at = o.created_at and e.id = o.event_id and e.body ~* $1
         returning o.client_id, o.created_at, o.event_id)
       update webhook_events e set body = '' from gone g where e.client_id = g.client_id and e.created_at = g.created_at and e.id = g.event_id`,
      [found],
    );
    await note(tx, rowCount ?? 0);
  });
  for (;;) {
    const cancelled = await transaction(pool, async (tx) => {
      const { rows } = await tx.query<{ cancelled: number }>(
        `with gone as (
           delete from webhook_queue where ctid = any(array(
             select q.ctid from webhook_queue q join webhook_events e
               on e.client_id = q.client_id and e.created_at = q.created_at and e.id = q.event_id
             where q.lease_owner is null and e.body ~* $1 limit ${BATCH_ROWS} for update of q skip locked))
           returning notification_id, client_id, created_at, event_id),
         cancelled as (update notifications n set status = 'cancelled', finished_at = $2 from gone g
           where n.id = g.notification_id and n.created_at = g.created_at returning 1),
         emptied as (update webhook_events e set body = '' from (select distinct client_id, created_at, event_id from gone) g
           where e.client_id = g.client_id and e.created_at = g.created_at and e.id = g.event_id
             and not exists (select from webhook_queue q where q.client_id = e.client_id and q.event_id = e.id
               and q.notification_id not in (select notification_id from gone)))
         select count(*) as cancelled from cancelled`,
        [found, now],
      );
      const count = rows[0]?.cancelled ?? 0;
      await note(tx, count);
      return count;
    });
    if (cancelled < BATCH_ROWS) return;
  }
}

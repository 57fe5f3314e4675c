import { randomUUID } from 'node:crypto';
import { first, type Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { isUuid } from '../uuid.ts';

/**
 * Puts a Ping for a subscription, active or not, into the queue (the service interface, POST /webhooks/ping/{subscription_id}). As any
 * notification it is signed, tried again and kept in the history.
 * @throws Problem subscription_not_found
 */
export async function ping(
  tx: Transaction,
  key: { clientId: string; subscriptionId: string },
  now: Date,
): Promise<void> {
  const found = isUuid(key.subscriptionId)
    ? first(
        await tx.query<{ id: string; dialled: boolean }>(
          `select id, delivery = 'HTTP' as dialled from subscriptions where client_id = $1 and id = $2 and deleted_at is null`,
          [key.clientId, key.subscriptionId],
        ),
      )
    : undefined;
  if (!found)
    throw new Problem('subscription_not_found', {
      field: 'subscription_id',
      message: 'does not name a subscription of this client',
    });
  const body = JSON.stringify({ ping: { id: randomUUID(), subscription_id: found.id, sent_at: now.toISOString() } });
  await tx.query({
    name: 'webhooks-ping',
    text: `with event as (
        insert into webhook_events (client_id, type, body, created_at) values ($1, 'PING', $3, $4) returning id, client_id, created_at),
      made as (
        insert into notifications (id, client_id, subscription_id, event_id, type, status, created_at)
        select notification_id(id, $2, created_at), client_id, $2, id, 'PING', 'pending', created_at from event)
      insert into webhook_queue
        (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
      select notification_id(id, $2, created_at), client_id, $2, id, created_at, created_at, 0, 0, $5 from event`,
    // The reader of a stream takes it with the others; the engine claims only what is dialled.
    values: [key.clientId, found.id, body, now, found.dialled],
  });
}

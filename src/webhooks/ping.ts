import { randomUUID } from 'node:crypto';
import { first, leaveWork, one, type Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { announceNotifications } from './announcement.ts';

/**
 * Puts a Ping for a subscription, active or not, into the queue (service interface, POST /webhooks/ping/{subscription_id}). Like any
 * notification, it is signed, retried and kept in the history.
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
  await put(tx, { ...key, ...found, now });
}

/** The subscription to ping. `dialled`: whether the service sends to it. */
interface Pinged {
  clientId: string;
  id: string;
  dialled: boolean;
  now: Date;
}

/** Uses three statements, because Citus would plan a single one in parts. The reader of a stream takes the ping with the other notifications. */
async function put(tx: Transaction, { clientId, id, dialled, now }: Pinged): Promise<void> {
  leaveWork(tx, 'queue');
  const body = JSON.stringify({ ping: { id: randomUUID(), subscription_id: id, sent_at: now.toISOString() } });
  const event = one(
    await tx.query<{ id: number; created_at: Date }>(
      `insert into webhook_events (client_id, type, body, created_at) values ($1, 'PING', $2, $3) returning id, created_at`,
      [clientId, body, now],
    ),
  );
  const made = one(
    await tx.query<{ id: string }>(
      `insert into notifications (id, client_id, subscription_id, event_id, type, status, created_at)
       values (notification_id($3, $2, $4), $1, $2, $3, 'PING', 'pending', $4) returning id`,
      [clientId, id, event.id, event.created_at],
    ),
  );
  // The engine claims only what the service sends.
  tx.later({
    text: `insert into webhook_queue
      (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
      values ($5, $1, $2, $3, $4, $4, 0, 0, $6)`,
    values: [clientId, id, event.id, event.created_at, made.id, dialled],
  });
  await announceNotifications(tx, [made.id]);
}

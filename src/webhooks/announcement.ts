import { isDistributed } from '../database/cells/pool.ts';
import { type Db, first, leaveWork, type Transaction } from '../database/database.ts';
import { instantOf } from './notification.ts';

/** The most updates in one NOTIFY. Its payload has at most 8,000 bytes, and an update has less than 400. */
const MAX_UPDATES_OF_PAYLOAD = 20;

/**
 * Announces a change of a subscription to the workers that hold a copy, and to those who follow the client. A trigger does this
 * (migrations/0008_webhooks.sql), except on a Citus worker, where nobody listens.
 */
export async function announceSubscription(
  tx: Transaction,
  {
    id,
    clientId,
    change,
    active,
  }: { id: string; clientId: string; change: 'created' | 'updated' | 'deleted'; active: boolean },
): Promise<void> {
  // What waits for the subscription may be due now, or may never be sent.
  leaveWork(tx, 'queue');
  if (!isDistributed(tx)) return;
  await tx.query("select pg_notify('webhook_subscriptions', $1)", [id]);
  const update = { clientId, event: 'subscription', data: { id, change, active } };
  await tx.query("select pg_notify('webhook_changes', $2) from watched_clients() w where w = $1", [
    clientId,
    JSON.stringify([update]),
  ]);
}

/**
 * Announces notifications that a statement has made or changed to those who follow their clients. A trigger does this except on a Citus
 * worker (migrations/0010_graphql.sql). Outside a transaction it runs after the statement. If the process is killed in between, the changes
 * stay unannounced.
 */
export async function announceNotifications(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0 || !isDistributed(db)) return;
  const followed = first(
    await db.query<{ clients: string[] | null }>('select array_agg(w) as clients from watched_clients() w'),
  )?.clients;
  if (!followed) return;
  const { rows } = await db.query<{ clientId: string; data: object }>(
    `select client_id as "clientId", json_build_object('id', id, 'subscriptionId', subscription_id, 'type', type, 'status', status,
       'attempts', attempts_count) as data
     from notifications where client_id = any($1) and id = any($2::uuid[]) and created_at = any($3::timestamptz[])`,
    [followed, ids, [...new Set(ids.map((id) => instantOf(id).toISOString()))]],
  );
  const updates = rows.map(({ clientId, data }) => ({ clientId, event: 'notification', data }));
  const payloads: string[] = [];
  for (let at = 0; at < updates.length; at += MAX_UPDATES_OF_PAYLOAD)
    payloads.push(JSON.stringify(updates.slice(at, at + MAX_UPDATES_OF_PAYLOAD)));
  await db.query("select pg_notify('webhook_changes', page) from unnest($1::text[]) as page", [payloads]);
}

/** Makes a statement that changes notifications `n` return their ids for `announceNotifications`; empty if a trigger announces them. */
export function returningIds(db: Db): string {
  return isDistributed(db) ? ' returning n.id' : '';
}

import type { Transaction } from '../database/database.ts';

/**
 * In the order in which the delivery engine locks: a dispatcher that holds an event of the outbox commits its notifications before
 * they are looked for.
 */
const TABLES = ['webhook_outbox', 'webhook_queue', 'attempts', 'notifications', 'webhook_events'];

/** Removes all events, notifications and attempts of a client. What was pending is never sent. Subscriptions stay. */
export async function removeNotifications(tx: Transaction, clientId: string): Promise<void> {
  for (const table of TABLES) await tx.query(`delete from ${table} where client_id = $1`, [clientId]);
}

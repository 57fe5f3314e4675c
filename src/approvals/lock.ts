import type { Transaction } from '../database/database.ts';

/**
 * The lock between changes of approvals and changes of permissions of a client, held until the transaction ends. Creating a payment or
 * acting on it reads who is permitted. A change of permissions reads which payments are pending. Without the lock, two such transactions at
 * the same time would not see each other. Unlike row locks, advisory locks are granted in the order of their requests, so a stream of
 * payments never starves an administrator.
 *
 * This order excludes deadlocks: rows of contacts and clients that are changed, then this lock, then payments.
 */

/** Keeps these locks separate from other advisory locks. */
const SEED = 3_006;
const keys = `(select distinct hashtextextended(id, ${SEED}) as key from unnest($1::text[]) as u(id) order by key) as k`;

/**
 * Takes the lock for creating payments and acting on them; any number may hold it at once. A transaction with several clients names them in
 * one call.
 */
export async function shareLock(tx: Transaction, ...clientIds: string[]): Promise<void> {
  tx.later({
    name: 'approvals-share-lock',
    text: `select pg_advisory_xact_lock_shared(key) from ${keys}`,
    values: [clientIds],
  });
}

/** Takes the lock for changing who may approve. It waits until nobody creates or acts, and then excludes them. */
export async function takeLock(tx: Transaction, ...clientIds: string[]): Promise<void> {
  await tx.query({
    name: 'approvals-take-lock',
    text: `select pg_advisory_xact_lock(key) from ${keys}`,
    values: [clientIds],
  });
}

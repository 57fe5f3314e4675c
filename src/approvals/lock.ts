import type { Transaction } from '../database/database.ts';

/**
 * The lock between what changes approvals and what changes permissions of a client, held until the transaction ends. A payment that is
 * created or acted on reads who is permitted; a change of permissions reads which payments are pending. At the same instant neither
 * would see the other. Advisory locks are granted in the order of their requests, unlike row locks, so a stream of payments never
 * starves an administrator.
 *
 * The order that excludes deadlocks: rows of contacts and clients that are changed, then this lock, then payments.
 */

/** Keeps these locks apart from other advisory locks. */
const SEED = 3_006;
const keys = `(select distinct hashtextextended(id, ${SEED}) as key from unnest($1::text[]) as u(id) order by key) as k`;

/** For creating payments and acting on them: any number at once. A transaction with several clients names them in one call. */
export async function shareLock(tx: Transaction, ...clientIds: string[]): Promise<void> {
  tx.later({
    name: 'approvals-share-lock',
    text: `select pg_advisory_xact_lock_shared(key) from ${keys}`,
    values: [clientIds],
  });
}

/** For changing who may approve: waits until nobody creates or acts, and then excludes them. */
export async function takeLock(tx: Transaction, ...clientIds: string[]): Promise<void> {
  await tx.query({
    name: 'approvals-take-lock',
    text: `select pg_advisory_xact_lock(key) from ${keys}`,
    values: [clientIds],
  });
}

import type { Transaction } from '../database.ts';

/**
 * Turns between what changes approvals and what changes permissions of a client, until the transaction ends. A payment that is
 * created or acted on reads who is permitted; a change of permissions reads which payments are pending: at the same instant
 * neither would see the other. Advisory locks and not rows, because those who wait for them are served in turn: a stream of
 * payments never keeps an administrator waiting.
 *
 * Order, so that nobody waits in a circle: rows of contacts and clients that are changed, then the turn, then payments.
 */

/** Keeps the turns apart from other advisory locks. */
const SEED = 3_006;
const keys = `(select distinct hashtextextended(id, ${SEED}) as key from unnest($1::text[]) as u(id) order by key) as k`;

/** Creating payments and acting on them, any number at once. A transaction with several clients names them in one call. */
export async function shareTurn(tx: Transaction, ...clientIds: string[]): Promise<void> {
  await tx.query({
    name: 'approvals-share-turn',
    text: `select pg_advisory_xact_lock_shared(key) from ${keys}`,
    values: [clientIds],
  });
}

/** Changing who may approve: waits until nobody is creating or acting, and lets nobody begin. */
export async function takeTurn(tx: Transaction, ...clientIds: string[]): Promise<void> {
  await tx.query({
    name: 'approvals-take-turn',
    text: `select pg_advisory_xact_lock(key) from ${keys}`,
    values: [clientIds],
  });
}

import type { Context } from '../../context.ts';
import type { Db, Pool } from '../../database/database.ts';
import { announceNotifications, returningIds } from '../announcement.ts';
import type { Endpoints } from './endpoints.ts';

/** The most subscriptions that one discovery finds. */
const MAX_DISCOVERED = 20_000;
/** Subscriptions that one statement reads, and deliveries that one statement cancels. */
const MAX_LOADED = 500;
const MAX_CANCELLED = 1_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Finds deliveries in the queue that no endpoint of this process knows: left by other workers, put back, or requested again. */
export class Discovery {
  readonly #context: Context;
  readonly #pool: Pool;
  readonly #endpoints: Endpoints;
  #running: Promise<void> | undefined;
  /** The last subscription of a discovery that reached MAX_DISCOVERED. */
  #after: string | undefined;

  constructor(context: Context, pool: Pool, endpoints: Endpoints) {
    this.#context = context;
    this.#pool = pool;
    this.#endpoints = endpoints;
  }

  get running(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Begins a discovery outside the intake's loop, which must not wait for it. Masses of rows that are being written, or that were just
   * deleted, make it slow. Afterwards the endpoints that it finds know when they are due.
   */
  begin(now: Date, done: () => void): void {
    if (this.#running) return;
    this.#running = this.#run(now)
      .catch((error: Error) => {
        this.#context.log.debug(
          { reason: error.message },
          'the webhook queue could not be searched; it is tried again',
        );
      })
      .finally(() => {
        this.#running = undefined;
      })
      .then(done);
  }

  async stop(): Promise<void> {
    await this.#running;
  }

  async #run(now: Date): Promise<void> {
    const found = await discover(this.#pool, this.#after);
    this.#after = found.length < MAX_DISCOVERED ? undefined : found.at(-1)?.subscriptionId;
    const unread = found.map((one) => one.subscriptionId).filter((id) => !this.#endpoints.find(id)?.read);
    for (const id of unread) this.#endpoints.obtain(id);
    for (let at = 0; at < unread.length; at += MAX_LOADED) {
      await this.#endpoints.load(unread.slice(at, at + MAX_LOADED));
    }
    for (const { subscriptionId, dueAt } of found) {
      const endpoint = this.#endpoints.obtain(subscriptionId);
      if (endpoint.settings.deleted) await cancelWaiting(this.#pool, subscriptionId, now);
      else endpoint.discovered(dueAt.getTime());
    }
  }
}

/**
 * The subscriptions with deliveries in the queue without a lease, and when the first of each is due. It steps from subscription to
 * subscription in the index. So its cost depends on the number of subscriptions, not on their backlogs. At most MAX_DISCOVERED.
 * @param after only subscriptions after this one, in the order of their ids
 */
export async function discover(db: Db, after?: string): Promise<{ subscriptionId: string; dueAt: Date }[]> {
  const { rows } = await db.query<{ subscription_id: string; due_at: Date }>({
    name: 'webhooks-discover',
    text: `with recursive waiting as (
        (select subscription_id, due_at from webhook_queue where lease_owner is null and not ping and subscription_id > $2::uuid
          order by subscription_id, due_at limit 1)
        union all
        select next.subscription_id, next.due_at from waiting w cross join lateral (
          select q.subscription_id, q.due_at from webhook_queue q
          where q.lease_owner is null and not q.ping and q.subscription_id > w.subscription_id
          order by q.subscription_id, q.due_at limit 1) next)
      select subscription_id, due_at from waiting limit $1`,
    values: [MAX_DISCOVERED, after ?? BEFORE_ALL],
  });
  return rows.map((row) => ({ subscriptionId: row.subscription_id, dueAt: row.due_at }));
}

/** Cancels up to MAX_CANCELLED deliveries that wait for a deleted subscription. */
async function cancelWaiting(db: Db, subscriptionId: string, now: Date): Promise<void> {
  const returning = returningIds(db);
  const { rows } = await db.query<{ id: string }>({
    name: `webhooks-cancel${returning && '-returning'}`,
    text: `with gone as (
        delete from webhook_queue where ctid = any(array(
          select ctid from webhook_queue where subscription_id = $1 and lease_owner is null and not ping limit $2 for update skip locked))
        returning notification_id, created_at)
      update notifications n set status = 'cancelled', finished_at = $3 from gone g
      where n.id = g.notification_id and n.created_at = g.created_at${returning}`,
    values: [subscriptionId, MAX_CANCELLED, now],
  });
  await announceNotifications(
    db,
    rows.map(({ id }) => id),
  );
}

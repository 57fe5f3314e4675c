import type { Db, Pool } from '../../database/database.ts';
import { announceNotifications } from '../announcement.ts';
import type { WorkerRegistration } from './worker.ts';

/** Milliseconds after an error at which unknown leases are searched for again. The database may have completed a statement without our knowledge. */
const RECONCILE_AFTER_MS = [2_000, 10_000, 60_000];

/** The leases of this worker that end without an attempt: put back, cancelled, or unknown because an answer was lost. */
export class Leases {
  readonly #pool: Pool;
  readonly #registration: WorkerRegistration;
  #cancelled: string[] = [];
  #unknown = false;
  #timers: NodeJS.Timeout[] = [];

  constructor(pool: Pool, registration: WorkerRegistration) {
    this.#pool = pool;
    this.#registration = registration;
  }

  /** Whether deliveries wait to be cancelled. */
  get cancelling(): boolean {
    return this.#cancelled.length > 0;
  }

  /** Whether there may be leases that this worker does not know of. */
  get unknown(): boolean {
    return this.#unknown;
  }

  /** Puts deliveries that were not attempted back into the queue; never throws. */
  async release(ids: readonly string[]): Promise<void> {
    const worker = this.#registration.id;
    if (worker === undefined || ids.length === 0) return;
    try {
      await release(this.#pool, worker, ids);
    } catch {
      this.markUnknown();
    }
  }

  /** Cancels deliveries whose subscription was deleted or whose event is no longer kept. `writeCancelled` writes it. */
  cancel(ids: readonly string[]): void {
    this.#cancelled.push(...ids);
  }

  async writeCancelled(worker: number, now: Date): Promise<void> {
    if (this.#cancelled.length === 0) return;
    const ids = this.#cancelled;
    this.#cancelled = [];
    await cancelLeased(this.#pool, { worker, ids, now });
  }

  /** Records that there may be leases that this worker does not know of. The next `reconcile` puts them back. */
  markUnknown(): void {
    this.#unknown = true;
  }

  /** Like `markUnknown`, now and again later: the answer to a statement was lost, and the statement may still run. */
  markUnknownAfterError(): void {
    this.markUnknown();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = RECONCILE_AFTER_MS.map((after) => setTimeout(() => this.markUnknown(), after).unref());
  }

  /** @param held returns the ids of all deliveries that this worker holds */
  async reconcile(worker: number, held: () => string[]): Promise<void> {
    if (!this.#unknown) return;
    this.#unknown = false;
    await releaseUnknown(this.#pool, worker, held());
  }
}

async function release(db: Db, worker: number, ids: readonly string[]): Promise<void> {
  await db.query({
    name: 'webhooks-release',
    text: 'update webhook_queue set lease_owner = null where notification_id = any($2::uuid[]) and lease_owner = $1::int',
    values: [worker, ids],
  });
}

async function cancelLeased(db: Db, leased: { worker: number; ids: readonly string[]; now: Date }): Promise<void> {
  await db.query({
    name: 'webhooks-cancel-leased',
    text: `with gone as (
        delete from webhook_queue where notification_id = any($2::uuid[]) and lease_owner = $1::int
        returning notification_id, created_at)
      update notifications n set status = 'cancelled', finished_at = $3 from gone g
      where n.id = g.notification_id and n.created_at = g.created_at`,
    values: [leased.worker, leased.ids, leased.now],
  });
  await announceNotifications(db, leased.ids);
}

/** Puts back every lease of this worker on a delivery that it does not hold, and the leases of workers that no longer exist. */
async function releaseUnknown(db: Db, worker: number, held: readonly string[]): Promise<void> {
  await db.query({
    text: `update webhook_queue set lease_owner = null
      where lease_owner is not null and (lease_owner = $1::int and notification_id not in (select unnest($2::uuid[]))
        or lease_owner not in (select id from webhook_workers))`,
    values: [worker, held],
  });
}

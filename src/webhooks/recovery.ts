import type { Context } from '../context.ts';
import type { Db, Pool } from '../database/database.ts';
import { messageOf } from '../values/unknown.ts';
import type { Endpoint } from './delivery/endpoint.ts';

/** The most deliveries that one statement makes due. */
const MAX_BATCH_ROWS = 10_000;
/** A delivery that is due within this many milliseconds is left alone: the first wait of the schedule, with its jitter. */
const SOON_MS = 6_000;
/** Milliseconds between two checks of recovered endpoints. An endpoint that fails now and then costs one statement a second. */
const PAUSE_MS = 1_000;

/**
 * Makes the deliveries that wait for a subscription due now, in the order of their events, except those that are due within seconds anyway.
 * Each is brought forward only once in each wait of its schedule, and the wait starts again if that attempt fails. So a receiver that
 * refuses one delivery, while others succeed, does not get it again and again, and does not use up its schedule. A wait that the receiver
 * asked for is kept.
 * @returns the number of deliveries
 */
export async function makeWaitingDue(
  db: Db,
  key: { clientId: string; subscriptionId: string },
  now: Date,
): Promise<number> {
  let count = 0;
  for (;;) {
    const { rowCount } = await db.query({
      name: 'webhooks-recovery',
      text: `with waiting as materialized (
          select ctid as place from webhook_queue
          where client_id = $5 and subscription_id = $1 and lease_owner is null and not ping and due_at > $2 and attempts >= early_from
          order by created_at, event_id limit $3 for update skip locked)
        update webhook_queue set due_at = least(created_at, $4), round_attempts = greatest(round_attempts - 1, 0), early_from = attempts + 2
        where client_id = $5 and ctid = any(array(select place from waiting))`,
      values: [key.subscriptionId, new Date(now.getTime() + SOON_MS), MAX_BATCH_ROWS, now, key.clientId],
    });
    count += rowCount ?? 0;
    if ((rowCount ?? 0) < MAX_BATCH_ROWS) return count;
  }
}

/** Makes due what waits for endpoints that work again. They receive it at their own pace, like any backlog. */
export class Recovery {
  readonly #context: Context;
  readonly #pool: Pool;
  readonly #wantClaims: () => void;
  readonly #recovered = new Set<Endpoint>();
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** @param pool the engine's own connections; `wantClaims`: called when deliveries are due */
  constructor(context: Context, pool: Pool, wantClaims: () => void) {
    this.#context = context;
    this.#pool = pool;
    this.#wantClaims = wantClaims;
  }

  /** An endpoint that failed before works now. What waits for it is made due at once, or a second after the last time. */
  note(endpoint: Endpoint): void {
    this.#recovered.add(endpoint);
    if (!this.#timer) this.#look();
  }

  /** Starts no more statements, and waits for the current one. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #look(): void {
    if (this.#running || this.#stopped) return;
    this.#running = this.#makeDue().finally(() => {
      this.#running = undefined;
      if (this.#stopped) return;
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        if (this.#recovered.size > 0) this.#look();
      }, PAUSE_MS).unref();
    });
  }

  async #makeDue(): Promise<void> {
    for (const endpoint of this.#recovered) {
      if (this.#stopped) return;
      this.#recovered.delete(endpoint);
      const now = this.#context.clock.now();
      const key = { clientId: endpoint.settings.clientId, subscriptionId: endpoint.id };
      try {
        if ((await makeWaitingDue(this.#pool, key, now)) === 0) continue;
        endpoint.retryAt(now.getTime());
        this.#wantClaims();
      } catch (error) {
        this.#recovered.add(endpoint);
        this.#context.log.debug({ reason: messageOf(error) }, 'what waits for an endpoint could not be made due');
        return;
      }
    }
  }
}

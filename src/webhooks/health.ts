import { monotonic } from '../calendar.ts';
import type { Context } from '../context.ts';
import { type Pool, transaction } from '../database.ts';
import type { Endpoint } from './endpoint.ts';
import { disabledTotal } from './metrics.ts';
import { disableSubscription } from './subscription.ts';

/** Milliseconds of nothing but failures after which a subscription is switched off: five days. */
export const DISABLE_AFTER = 5 * 86_400_000;
/** Milliseconds between two writes of the same about the same endpoint, and between an observation and its write. */
const WRITE_AGAIN_AFTER = 60_000;
const WRITE_AFTER = 250;

/** Watches how endpoints fare: switches off those that answer 410 at once, and those that have only failed for five days. */
export class EndpointHealth {
  readonly #context: Context;
  readonly #pool: Pool;
  readonly #noted = new Map<Endpoint, boolean>();
  #timer: NodeJS.Timeout | undefined;

  /** @param pool the engine's own connections */
  constructor(context: Context, pool: Pool) {
    this.#context = context;
    this.#pool = pool;
  }

  /** Notes an attempt; writes only when something has changed, or once a minute. */
  note(endpoint: Endpoint, success: boolean, statusCode: number | null): void {
    if (statusCode === 410) void this.#disable(endpoint.id, 'gone');
    if (endpoint.failingKnown === !success && monotonic() - endpoint.failingWritten < WRITE_AGAIN_AFTER) return;
    endpoint.failingKnown = !success;
    endpoint.failingWritten = monotonic();
    this.#noted.set(endpoint, success);
    this.#timer ??= setTimeout(() => void this.#write(), WRITE_AFTER).unref();
  }

  async #write(): Promise<void> {
    this.#timer = undefined;
    const noted = [...this.#noted];
    this.#noted.clear();
    const now = this.#context.clock.now();
    try {
      const { rows } = await this.#pool.query<{ subscription_id: string; failing_since: Date }>({
        name: 'webhooks-health',
        text: `with well as (
            update delivery.endpoints set failing_since = null where subscription_id = any($1::uuid[]) and failing_since is not null)
          insert into delivery.endpoints (subscription_id, failing_since) select id, $3 from unnest($2::uuid[]) as failing(id)
          on conflict (subscription_id) do update set failing_since = coalesce(delivery.endpoints.failing_since, excluded.failing_since)
          returning subscription_id, failing_since`,
        values: [
          noted.filter(([, success]) => success).map(([endpoint]) => endpoint.id),
          noted.filter(([, success]) => !success).map(([endpoint]) => endpoint.id),
          now,
        ],
      });
      for (const row of rows) {
        if (now.getTime() - row.failing_since.getTime() >= DISABLE_AFTER)
          await this.#disable(row.subscription_id, 'failing');
      }
    } catch (error) {
      for (const [endpoint] of noted) endpoint.failingKnown = undefined;
      this.#context.log.warn({ reason: (error as Error).message }, 'how webhook endpoints fare could not be written');
    }
  }

  async #disable(id: string, reason: 'gone' | 'failing'): Promise<void> {
    const { clock, log, patientPool } = this.#context;
    const act = { now: clock.now(), actor: 'service:webhooks', requestId: `webhooks-${id}` };
    try {
      if (!(await transaction(patientPool, (tx) => disableSubscription(tx, act, id, reason)))) return;
      disabledTotal.inc({ reason });
      log.warn({ subscription: id, cause: reason }, 'a webhook subscription was switched off');
    } catch (error) {
      log.error(
        { subscription: id, reason: (error as Error).message },
        'a webhook subscription could not be switched off',
      );
    }
  }
}

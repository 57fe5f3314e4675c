import type { Context } from '../context.ts';
import { type Pool, transaction } from '../database.ts';
import { endsWithin } from '../deadline.ts';
import type { Endpoint } from './endpoint.ts';
import { disabledTotal } from './metrics.ts';
import { disableSubscription } from './subscription.ts';

/** Milliseconds of nothing but failures after which a subscription is switched off: five days. */
export const DISABLE_AFTER = 5 * 86_400_000;
/** Milliseconds between an observation and its write, and (service time) between two writes of the same about the same endpoint. */
const WRITE_AFTER = 250;
const WRITE_AGAIN_AFTER = 10_000;
/** Milliseconds for the last of it when the service stops. */
const STOP_WITHIN = 1_500;

/** What was seen of an endpoint and is not written yet, in milliseconds of service time. */
interface Seen {
  /** The last success. */
  succeeded: number | undefined;
  /** The first failure after it. */
  failed: number | undefined;
}

/**
 * Watches how endpoints fare: switches off those that answer 410 at once, and those that have only failed for five days. Of every endpoint the
 * database knows the last success and the first failure since, whichever process saw them and in whatever order they are written.
 */
export class EndpointHealth {
  readonly #context: Context;
  readonly #pool: Pool;
  readonly #seen = new Map<Endpoint, Seen>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #stopped = false;
  #unwritable = false;

  /** @param pool the engine's own connections */
  constructor(context: Context, pool: Pool) {
    this.#context = context;
    this.#pool = pool;
  }

  /**
   * Notes an attempt; written soon where something has changed, else within ten seconds.
   * @param revision of the subscription when the attempt was made: the answer of a former address says nothing about the present one
   */
  note(endpoint: Endpoint, success: boolean, statusCode: number | null, revision: number): void {
    if (statusCode === 410) void this.#disable(endpoint.id, 'gone', revision);
    const now = this.#context.clock.now().getTime();
    let seen = this.#seen.get(endpoint);
    if (!seen) {
      seen = { succeeded: undefined, failed: undefined };
      this.#seen.set(endpoint, seen);
    }
    if (success) {
      seen.succeeded = now;
      seen.failed = undefined;
    } else seen.failed ??= now;
    this.#writeSoon();
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => void this.#write(false), WRITE_AFTER).unref();
  }

  /** Writes what is not written yet. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#write(true);
  }

  /** As `flush`, for at most 1.5 s, and for the last time. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await endsWithin(this.flush(), STOP_WITHIN);
  }

  /** @param all also what could wait */
  #write(all: boolean): Promise<void> {
    const now = this.#context.clock.now().getTime();
    const due = [...this.#seen].filter(([endpoint, { failed }]) => {
      const { failingKnown, failingWritten } = endpoint;
      return all || failingKnown !== (failed !== undefined) || Math.abs(now - failingWritten) >= WRITE_AGAIN_AFTER;
    });
    for (const [endpoint, { failed }] of due) {
      this.#seen.delete(endpoint);
      endpoint.failingKnown = failed !== undefined;
      endpoint.failingWritten = now;
    }
    this.#writing = (due.length === 0 ? Promise.resolve() : this.#writeAll(due, now)).finally(() => {
      this.#timer = undefined;
      if (this.#seen.size > 0 && !this.#stopped) this.#writeSoon();
    });
    return this.#writing;
  }

  async #writeAll(due: readonly (readonly [Endpoint, Seen])[], now: number): Promise<void> {
    const moment = (time: number | undefined) => (time === undefined ? null : new Date(time));
    try {
      const { rows } = await this.#pool.query<{ subscription_id: string; failing_since: Date }>({
        name: 'webhooks-health',
        text: `with written as (
            insert into delivery.endpoints as e (subscription_id, succeeded_at, failing_since)
            select * from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[]) as seen(id) order by id
            on conflict (subscription_id) do update set succeeded_at = greatest(e.succeeded_at, excluded.succeeded_at),
              failing_since = least(
                case when e.failing_since <= excluded.succeeded_at then null else e.failing_since end,
                case when excluded.failing_since <= e.succeeded_at then null else excluded.failing_since end)
            returning subscription_id, failing_since)
          select subscription_id, failing_since from written where failing_since is not null`,
        values: [
          due.map(([endpoint]) => endpoint.id),
          due.map(([, seen]) => moment(seen.succeeded)),
          due.map(([, seen]) => moment(seen.failed)),
        ],
      });
      this.#unwritable = false;
      const failing = new Set(due.filter(([, seen]) => seen.failed !== undefined).map(([endpoint]) => endpoint.id));
      for (const row of rows) {
        if (failing.has(row.subscription_id) && now - row.failing_since.getTime() >= DISABLE_AFTER)
          await this.#disable(row.subscription_id, 'failing');
      }
    } catch (error) {
      for (const [endpoint, seen] of due) this.#seen.set(endpoint, joined(seen, this.#seen.get(endpoint)));
      for (const [endpoint] of due) endpoint.failingKnown = undefined;
      if (!this.#unwritable)
        this.#context.log.warn({ reason: (error as Error).message }, 'how webhook endpoints fare could not be written');
      this.#unwritable = true;
    }
  }

  async #disable(id: string, reason: 'gone' | 'failing', revision?: number): Promise<void> {
    const { clock, log, backgroundPool } = this.#context;
    const act = { now: clock.now(), actor: 'service:webhooks', requestId: `webhooks-${id}` };
    try {
      if (!(await transaction(backgroundPool, (tx) => disableSubscription(tx, act, id, reason, revision)))) return;
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

/** What was seen first and what later. */
function joined(first: Seen, later: Seen | undefined): Seen {
  if (later === undefined) return first;
  if (later.succeeded !== undefined) return later;
  return { succeeded: first.succeeded, failed: first.failed ?? later.failed };
}

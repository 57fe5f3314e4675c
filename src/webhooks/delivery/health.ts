import type { Context } from '../../context.ts';
import { type Pool, transaction } from '../../database/database.ts';
import { endsWithin } from '../../process/deadline.ts';
import { asRun } from '../../process/runs.ts';
import { codeOf, messageOf } from '../../values/unknown.ts';
import { HTTP_GONE, type Outcome, succeeded } from '../sending/outcome.ts';
import { disableSubscription } from '../subscription.ts';
import type { Endpoint } from './endpoint.ts';
import { disabledTotal } from './metrics.ts';

/** Milliseconds of uninterrupted failure after which a subscription is switched off: five days. */
export const DISABLE_AFTER_MS = 5 * 86_400_000;
/** Milliseconds between an observation and its write, and (in service time) between two writes about an endpoint whose state has not changed. */
const WRITE_AFTER_MS = 250;
const REWRITE_AFTER_MS = 10_000;
/** Milliseconds for the last write when the service stops. */
const STOP_TIMEOUT_MS = 1_500;
const FOREIGN_KEY_VIOLATION = '23503';

/** Observations of an endpoint that are not written yet, in milliseconds of service time. */
interface Observed {
  /** The last success. */
  succeeded: number | undefined;
  /** The first failure since. */
  failed: number | undefined;
}

/** What was last written about an endpoint, and when (milliseconds of service time). */
interface Written {
  failing: boolean;
  at: number;
}

/**
 * Observes endpoints. It switches off those that answer 410, at once, and those that have only failed for five days. The database keeps the
 * last success of every endpoint and the first failure since, whichever process saw them and in whatever order they are written.
 */
export class EndpointHealth {
  readonly #context: Context;
  readonly #pool: Pool;
  readonly #recovered: (endpoint: Endpoint) => void;
  readonly #observed = new Map<Endpoint, Observed>();
  readonly #written = new WeakMap<Endpoint, Written>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #stopped = false;
  #unwritable = false;

  /** @param pool the engine's own connections; `recovered`: called when an endpoint that failed before works again, in any process */
  constructor(context: Context, pool: Pool, recovered: (endpoint: Endpoint) => void) {
    this.#context = context;
    this.#pool = pool;
    this.#recovered = recovered;
  }

  /**
   * Records an attempt. It is written soon if it changes the endpoint's state, and otherwise within ten seconds.
   * @param revision of the subscription when the attempt began: the answer of a former address says nothing about the current one
   */
  note(endpoint: Endpoint, outcome: Outcome, revision: number): void {
    if (outcome.statusCode === HTTP_GONE) void this.#disable({ id: endpoint.id, reason: 'gone', revision });
    const now = this.#context.clock.now().getTime();
    let observed = this.#observed.get(endpoint);
    if (!observed) {
      observed = { succeeded: undefined, failed: undefined };
      this.#observed.set(endpoint, observed);
    }
    if (succeeded(outcome)) {
      observed.succeeded = now;
      observed.failed = undefined;
    } else observed.failed ??= now;
    this.#writeSoon();
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => void this.#write(false), WRITE_AFTER_MS).unref();
  }

  /** Writes everything that is not written yet. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#write(true);
  }

  /** Like `flush`, for the last time and for at most 1.5 s. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await endsWithin(this.flush(), STOP_TIMEOUT_MS);
  }

  /** @param all whether to write even what could wait */
  #write(all: boolean): Promise<void> {
    const now = this.#context.clock.now().getTime();
    const due = [...this.#observed].filter(([endpoint, { failed }]) => {
      const written = this.#written.get(endpoint);
      if (all || !written) return true;
      return written.failing !== (failed !== undefined) || Math.abs(now - written.at) >= REWRITE_AFTER_MS;
    });
    for (const [endpoint, { failed }] of due) {
      this.#observed.delete(endpoint);
      this.#written.set(endpoint, { failing: failed !== undefined, at: now });
    }
    this.#writing = (due.length === 0 ? Promise.resolve() : this.#writeAll(due, now)).finally(() => {
      this.#timer = undefined;
      if (this.#observed.size > 0 && !this.#stopped) this.#writeSoon();
    });
    return this.#writing;
  }

  async #writeAll(due: readonly (readonly [Endpoint, Observed])[], now: number): Promise<void> {
    const moment = (time: number | undefined) => (time === undefined ? null : new Date(time));
    try {
      const { rows } = await this.#pool.query<{
        subscription_id: string;
        failing_since: Date | null;
        recovered: boolean;
      }>({
        name: 'webhooks-health',
        text: `with before as materialized (
            select subscription_id as id, failing_since from webhook_endpoints where subscription_id = any($1::uuid[])),
          written as (
            insert into webhook_endpoints as e (subscription_id, succeeded_at, failing_since)
            select * from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[]) as seen(id) order by id
            on conflict (subscription_id) do update set succeeded_at = greatest(e.succeeded_at, excluded.succeeded_at),
              failing_since = least(
                case when e.failing_since <= excluded.succeeded_at then null else e.failing_since end,
                case when excluded.failing_since <= e.succeeded_at then null else excluded.failing_since end)
            returning subscription_id, succeeded_at, failing_since)
          select subscription_id, w.failing_since, coalesce(b.failing_since <= w.succeeded_at, false) as recovered
          from written w left join before b on b.id = subscription_id where w.failing_since is not null or b.failing_since is not null`,
        values: [
          due.map(([endpoint]) => endpoint.id),
          due.map(([, observed]) => moment(observed.succeeded)),
          due.map(([, observed]) => moment(observed.failed)),
        ],
      });
      this.#unwritable = false;
      const seen = new Map(due.map(([endpoint, { failed }]) => [endpoint.id, { endpoint, failed }]));
      for (const { subscription_id: id, failing_since: since, recovered } of rows) {
        const one = seen.get(id);
        if (one && recovered) this.#recovered(one.endpoint);
        if (since && one?.failed !== undefined && now - since.getTime() >= DISABLE_AFTER_MS)
          await this.#disable({ id, reason: 'failing' });
      }
    } catch (error) {
      const ids = due.map(([endpoint]) => endpoint.id);
      const there = codeOf(error) === FOREIGN_KEY_VIOLATION ? await this.#present(ids) : undefined;
      for (const [endpoint, observed] of due) {
        // Its client was moved to another cell.
        if (there?.has(endpoint.id) === false) continue;
        this.#observed.set(endpoint, joined(observed, this.#observed.get(endpoint)));
        this.#written.delete(endpoint);
      }
      if (!this.#unwritable)
        this.#context.log.warn({ reason: messageOf(error) }, 'the health of webhook endpoints could not be written');
      this.#unwritable = true;
    }
  }

  /** Those of some subscriptions that are in this cell; all of them if that cannot be determined. */
  async #present(ids: readonly string[]): Promise<Set<string>> {
    const found = this.#pool.query<{ id: string }>('select id from subscriptions where id = any($1::uuid[])', [ids]);
    return found.then(
      ({ rows }) => new Set(rows.map(({ id }) => id)),
      () => new Set(ids),
    );
  }

  async #disable(input: { id: string; reason: 'gone' | 'failing'; revision?: number }): Promise<void> {
    const { id, reason } = input;
    const { clock, log, backgroundPool } = this.#context;
    const act = { now: clock.now(), actor: 'service:webhooks', requestId: `webhooks-${id}` };
    try {
      const disabled = await asRun('webhook switch-off', () =>
        transaction(backgroundPool, (tx) => disableSubscription(tx, act, input)),
      );
      if (!disabled) return;
      disabledTotal.inc({ reason });
      log.warn({ subscription: id, cause: reason }, 'a webhook subscription was switched off');
    } catch (error) {
      log.error({ subscription: id, reason: messageOf(error) }, 'a webhook subscription could not be switched off');
    }
  }
}

/** Joins earlier observations of an endpoint with later ones. */
function joined(earlier: Observed, later: Observed | undefined): Observed {
  if (later === undefined) return earlier;
  if (later.succeeded !== undefined) return later;
  return { succeeded: earlier.succeeded, failed: earlier.failed ?? later.failed };
}

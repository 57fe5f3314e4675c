import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { monotonic } from '../calendar.ts';
import type { Context } from '../context.ts';
import { createPool, type Pool } from '../database.ts';
import type { Logger } from '../log.ts';
import { Periodic } from '../periodic.ts';
import { Signer } from './attempt.ts';
import { Egress } from './egress.ts';
import { Endpoint, PACE, PACED_AFTER, readSubscriptions, type SubscriptionRow, update } from './endpoint.ts';
import { EndpointHealth } from './health.ts';
import { Intake } from './intake.ts';
import {
  attemptDuration,
  attemptsTotal,
  finishedTotal,
  firstAttemptDelay,
  heldDeliveries,
  takenOverTotal,
} from './metrics.ts';
import { type Outcome, succeeded } from './outcome.ts';
import { type Delivery, release, setUpConnection, type WorkerResult } from './queue.ts';
import type { Resolve } from './resolver.ts';
import { ResultWriter } from './results.ts';
import { Retention } from './retention.ts';
import { nextWait, parseRetryAfter } from './schedule.ts';
import { WorkerRegistration } from './worker.ts';

/** Connections for the engine's statements: what is taken in, results, endpoints. */
const CONNECTIONS = 4;
/** Milliseconds after which a statement is given up that nobody answers: a connection may be dead without a word. */
const ANSWER_WITHIN = 15_000;
/** Seconds for which a connection is kept: each day has statements of its own, which it would keep for ever. */
const MAX_LIFE = 6 * 3_600;
/** Milliseconds between two looks at what waits for a slot or a moment. */
const TICK = 50;
/** Milliseconds between two looks at the day: partitions are made ahead, and dropped when they are old. */
const RETENTION_INTERVAL = 1_000;
/** Milliseconds that attempts under way get when the service stops; and an endpoint unused for this long is forgotten. */
const STOP_WITHIN = 8_000;
const FORGET_AFTER = 300_000;
/** Milliseconds until a receiver has noticed that a connection was given up: its slot is taken until then. */
const CLOSING = 25;
/** Milliseconds of work that are claimed ahead for an endpoint, and deliveries at most. */
const AHEAD = 500;
const MAX_AHEAD = 500;
/** Requests under way at once at most, each of which is an open file; and above which endpoints that only fail get one slot each. */
const MAX_UNDER_WAY = 2_000;
const BUSY = 1_000;

export interface DispatcherOptions {
  /** How receivers' names become addresses; for tests. */
  resolve?: Resolve;
  /** Milliseconds after which a statement is given up that nobody answers; for tests. */
  answerWithin?: number;
  /** Requests under way at once at most; for tests. */
  mostUnderWay?: number;
}

/**
 * The delivery engine of one process: takes events in, sends notifications, writes what came of it (docs/webhooks.md, How it works).
 * At least once, never lost; any number of them may run against one database.
 */
export class Dispatcher {
  readonly #context: Context;
  readonly #log: Logger;
  readonly #pool: Pool;
  readonly #egress: Egress;
  readonly #signer: Signer;
  readonly #registration: WorkerRegistration;
  readonly #intake: Intake;
  readonly #results: ResultWriter;
  readonly #health: EndpointHealth;
  readonly #retention: Periodic;
  readonly #endpoints = new Map<string, Endpoint>();
  #underWay = 0;
  /** Endpoints that found MAX_UNDER_WAY under way, in the order in which they get their turn. */
  readonly #waiting = new Set<Endpoint>();
  #giving = false;
  readonly #mostUnderWay: number;
  #ticker: NodeJS.Timeout | undefined;
  #stopping = false;
  #idle: (() => void) | undefined;

  constructor(context: Context, options: DispatcherOptions = {}) {
    const { config, clock, log, backgroundPool } = context;
    this.#context = context;
    this.#log = log;
    this.#mostUnderWay = options.mostUnderWay ?? MAX_UNDER_WAY;
    const url = backgroundPool.options.connectionString as string;
    this.#pool = createPool(url, log, {
      max: CONNECTIONS,
      background: true,
      answerWithin: options.answerWithin ?? ANSWER_WITHIN,
      longestLife: MAX_LIFE,
      name: 'lombard-webhooks',
      setUp: setUpConnection,
    });
    this.#egress = new Egress({ allow: config.webhookAllow, timeout: config.webhookTimeout, ...options });
    this.#signer = new Signer(config.brand);
    const retention = new Retention(context);
    this.#retention = new Periodic({
      name: 'webhook retention',
      intervalMs: RETENTION_INTERVAL,
      log,
      run: () => retention.keep(),
    });
    this.#health = new EndpointHealth(context, this.#pool);
    this.#registration = new WorkerRegistration(
      url,
      `${hostname()} ${process.pid}`,
      config.webhookTimeout,
      clock,
      log,
      {
        onEvents: () => this.#intake.wake(),
        onSubscription: (id) => void this.#reload([id]),
        onRegistered: (_id, kept) => this.#onRegistered(kept),
        onLost: () => undefined,
        onTakenOver: (count) => {
          takenOverTotal.inc(count);
          this.#intake.wake();
        },
      },
    );
    this.#results = new ResultWriter(this.#pool, clock, log, () => this.#checkIdle());
    this.#intake = new Intake(context, this.#pool, this.#registration, {
      endpoint: (id, clientId) => this.#endpoint(id, clientId),
      endpoints: this.#endpoints,
      load: (ids) => this.#reload(ids),
      room: (endpoint) => this.#room(endpoint),
      accept: (deliveries) => this.#accept(deliveries),
      held: () => this.#heldIds(),
    });
  }

  /** Begins; where the database is away, as soon as it is back. */
  start(): void {
    this.#registration.start();
    this.#retention.start();
    this.#ticker = setInterval(() => this.#tick(), TICK);
  }

  /** There may be new events: looks at once. */
  wake(): void {
    this.#intake.wake();
  }

  /** Takes nothing new, gives what is under way up to 8 s, puts the rest back. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    clearInterval(this.#ticker);
    await Promise.all([this.#intake.stop(), this.#retention.stop()]);
    const left = [...this.#endpoints.values()].flatMap((endpoint) => endpoint.ready.splice(0));
    await this.#putBack(left);
    await this.#whenIdle(STOP_WITHIN);
    await this.#egress.close();
    await Promise.all([this.#results.stop(), this.#health.stop()]);
    await this.#registration.stop();
    await this.#pool.end();
  }

  #onRegistered(kept: boolean): void {
    // Under a new id nothing that waits here is ours any more; what is under way is recorded, and fenced.
    if (!kept) for (const endpoint of this.#endpoints.values()) endpoint.ready = [];
    // What was announced while nobody listened is read now.
    this.#intake.recheck([...this.#endpoints.keys()]);
    this.#intake.onRegistered();
  }

  #endpoint(id: string, clientId: string): Endpoint {
    let endpoint = this.#endpoints.get(id);
    if (!endpoint) {
      endpoint = new Endpoint(id, clientId);
      this.#endpoints.set(id, endpoint);
    }
    endpoint.lastUsed = monotonic();
    return endpoint;
  }

  /** Requests that may be under way to an endpoint at once: its share of the cap among the workers that are alive. */
  #slots(endpoint: Endpoint): number {
    if (endpoint.failures > 2 && this.#underWay > BUSY) return 1;
    return this.#share();
  }

  /** This worker's part of the concurrency of a subscription. */
  #share(): number {
    return Math.max(1, Math.floor(this.#context.config.webhookConcurrency / this.#registration.peers));
  }

  /**
   * How many more deliveries an endpoint may hold: what it takes in half a second, so that a slot that is free never waits for a
   * statement and most of a burst never waits in the queue; one that fails or hangs holds no more than it has slots.
   */
  #room(endpoint: Endpoint | undefined): number {
    if (!endpoint) return 4 * this.#share();
    if (!endpoint.usable) return 0;
    const slots = this.#slots(endpoint);
    if (endpoint.failures > 2) return Math.max(0, slots - endpoint.held);
    const ahead = Math.min(Math.ceil((slots * AHEAD) / Math.max(endpoint.pace, 1)), MAX_AHEAD);
    return Math.max(0, slots + Math.max(slots, ahead) - endpoint.held);
  }

  async #reload(ids: readonly string[]): Promise<void> {
    const known = ids.filter((id) => this.#endpoints.has(id));
    if (known.length === 0) return;
    try {
      for (const row of await readSubscriptions(this.#pool, known)) {
        const endpoint = this.#endpoints.get(row.id);
        if (!endpoint || endpoint.revision >= row.revision) continue;
        this.#update(endpoint, row);
        this.#refuse(endpoint);
      }
    } catch (error) {
      this.#log.warn(
        { reason: (error as Error).message },
        'webhook subscriptions could not be read; they are read again',
      );
      this.#intake.recheck(known);
    }
  }

  #update(endpoint: Endpoint, row: SubscriptionRow): void {
    try {
      update(endpoint, row, this.#context.vault, this.#signer.reserved);
    } catch (error) {
      // Sealed with another master key, for one: what cannot be signed as it should is not sent.
      Object.assign(endpoint, { revision: row.revision, deleted: row.deleted, active: false, usable: false });
      this.#log.error(
        { subscription: row.id, reason: (error as Error).message },
        'a webhook subscription cannot be used',
      );
    }
  }

  /** What an endpoint no longer takes goes back to the queue, or is cancelled where it was deleted. */
  #refuse(endpoint: Endpoint): void {
    const refused = endpoint.ready.filter((delivery) => !endpoint.takes(delivery));
    if (refused.length === 0) return;
    endpoint.ready = endpoint.ready.filter((delivery) => endpoint.takes(delivery));
    if (endpoint.deleted) this.#intake.cancel(refused.map((delivery) => delivery.id));
    else void this.#putBack(refused);
  }

  async #putBack(deliveries: readonly Delivery[]): Promise<void> {
    const worker = this.#registration.id;
    if (worker === undefined || deliveries.length === 0) return;
    try {
      await release(
        this.#pool,
        worker,
        deliveries.map((delivery) => delivery.id),
      );
    } catch {
      this.#intake.reconcile();
    }
  }

  /** Deliveries that have just been leased, of endpoints whose subscription has been read. */
  #accept(deliveries: readonly Delivery[]): void {
    const touched = new Set<Endpoint>();
    for (const delivery of deliveries) {
      const endpoint = this.#endpoint(delivery.subscriptionId, delivery.clientId);
      endpoint.ready.push(delivery);
      touched.add(endpoint);
    }
    for (const endpoint of touched) {
      this.#refuse(endpoint);
      this.#send(endpoint);
    }
  }

  #send(endpoint: Endpoint): void {
    const slots = this.#slots(endpoint);
    while (endpoint.ready.length > 0 && endpoint.underWay < slots && this.#registration.registered && !this.#stopping) {
      if (this.#underWay >= this.#mostUnderWay) {
        this.#waiting.add(endpoint);
        return;
      }
      if (endpoint.failures >= PACED_AFTER) {
        const now = monotonic();
        if (now < endpoint.notBefore) return;
        endpoint.notBefore = now + PACE;
      }
      this.#attempt(endpoint, endpoint.ready.shift() as Delivery);
    }
    if (endpoint.backlog && endpoint.ready.length <= slots / 2) this.#intake.wantClaims();
  }

  /** Gives what has become free to whoever has waited longest. */
  #next(): void {
    // An attempt may end at once (a blocked address), and so come back to here: the loop goes on with what it has freed.
    if (this.#giving) return;
    this.#giving = true;
    try {
      for (const endpoint of this.#waiting) {
        if (this.#underWay >= this.#mostUnderWay) return;
        this.#waiting.delete(endpoint);
        this.#send(endpoint);
      }
    } finally {
      this.#giving = false;
    }
  }

  #attempt(endpoint: Endpoint, delivery: Delivery): void {
    const startedAt = this.#context.clock.now();
    const deliveryId = randomUUID();
    const worker = this.#registration.id as number;
    const { revision } = endpoint;
    if (delivery.attempts === 0)
      firstAttemptDelay.observe(Math.max(0, startedAt.getTime() - delivery.createdAt.getTime()) / 1_000);
    endpoint.underWay += 1;
    this.#underWay += 1;
    endpoint.lastUsed = monotonic();
    const request = this.#signer.request(endpoint, delivery, deliveryId, startedAt);
    this.#results.began(delivery);
    const free = () => {
      endpoint.underWay -= 1;
      this.#underWay -= 1;
      this.#next();
      this.#send(endpoint);
      this.#checkIdle();
    };
    this.#egress.dispatch(request, (outcome) => {
      this.#finished(endpoint, delivery, { worker, deliveryId, startedAt }, outcome, revision);
      if (outcome.reason === 'timeout') setTimeout(free, CLOSING);
      else free();
    });
  }

  #finished(
    endpoint: Endpoint,
    delivery: Delivery,
    attempt: { worker: number; deliveryId: string; startedAt: Date },
    outcome: Outcome,
    revision: number,
  ): void {
    const success = succeeded(outcome);
    // Stopped before its time: put back, as if it had not begun.
    if (outcome.reason === 'interrupted') {
      this.#results.abandoned(delivery);
      return;
    }
    attemptsTotal.inc({ outcome: success ? 'delivered' : (outcome.reason ?? 'status') });
    attemptDuration.observe(outcome.durationMs / 1_000);
    endpoint.failures = success ? 0 : endpoint.failures + 1;
    endpoint.pace += (outcome.durationMs - endpoint.pace) / 8;
    const result: WorkerResult = {
      delivery,
      ...attempt,
      outcome,
      ...this.#verdict(endpoint, delivery, outcome, success),
      now: this.#context.clock.now(),
    };
    if (result.status !== 'pending') finishedTotal.inc({ status: result.status });
    if (result.dueAt) endpoint.nextDue = Math.min(endpoint.nextDue, result.dueAt.getTime());
    this.#health.note(endpoint, success, outcome.statusCode, revision);
    this.#results.add(result);
  }

  /** What an outcome makes of the notification (docs/decisions.md, 6). */
  #verdict(
    endpoint: Endpoint,
    delivery: Delivery,
    outcome: Outcome,
    success: boolean,
  ): Pick<WorkerResult, 'status' | 'dueAt'> {
    if (success) return { status: 'delivered', dueAt: null };
    if (outcome.statusCode === 410 || endpoint.deleted) return { status: 'failed', dueAt: null };
    const now = this.#context.clock.now();
    const retryAfter = parseRetryAfter(outcome.headers?.['retry-after'], now);
    const wait = nextWait(this.#context.config.webhookRetries, delivery.roundAttempts + 1, retryAfter, Math.random());
    if (wait === undefined) return { status: 'failed', dueAt: null };
    return { status: 'pending', dueAt: new Date(now.getTime() + wait) };
  }

  #tick(): void {
    let held = 0;
    const old = monotonic() - FORGET_AFTER;
    for (const endpoint of this.#endpoints.values()) {
      held += endpoint.held;
      if (endpoint.ready.length > 0) this.#send(endpoint);
      else if (endpoint.underWay === 0 && !endpoint.backlog && endpoint.lastUsed < old)
        this.#endpoints.delete(endpoint.id);
    }
    heldDeliveries.set(held);
    this.#intake.tick();
  }

  #heldIds(): string[] {
    const ids = this.#results.unwritten();
    for (const endpoint of this.#endpoints.values()) for (const delivery of endpoint.ready) ids.push(delivery.id);
    return ids;
  }

  #checkIdle(): void {
    if (this.#idle && this.#underWay === 0) this.#idle();
  }

  #whenIdle(limit: number): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limit);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

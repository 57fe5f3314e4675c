import { hostname } from 'node:os';
import { setUpOf } from '../cell-pool.ts';
import type { Context } from '../context.ts';
import { createPool, type Pool } from '../database.ts';
import { endsWithin } from '../deadline.ts';
import { Periodic } from '../periodic.ts';
import { CONNECTION_SETTINGS } from './delivery.ts';
import { Egress } from './egress.ts';
import { Endpoints } from './endpoints.ts';
import { EndpointHealth } from './health.ts';
import { Intake } from './intake.ts';
import { Leases } from './leases.ts';
import { heldDeliveries, takenOverTotal } from './metrics.ts';
import type { Resolve } from './resolver.ts';
import { ResultWriter } from './result-writer.ts';
import { createRetention } from './retention.ts';
import { Sender } from './sender.ts';
import { Signer } from './signer.ts';
import { WorkerRegistration } from './worker.ts';

/** Connections for the engine's statements: intake, results, endpoints. */
const MAX_CONNECTIONS = 4;
/** Milliseconds after which a statement without an answer is given up: a connection may be dead without a word. */
const QUERY_TIMEOUT_MS = 15_000;
/** Seconds for which a connection is kept: each day has its own statements, which a connection would keep for ever. */
const MAX_CONNECTION_AGE_SECONDS = 6 * 3_600;
/** Milliseconds between two looks at what waits for a slot or a moment. */
const TICK_MS = 50;
/** Milliseconds between two looks at the day: partitions are made ahead, and dropped when they are old. */
const RETENTION_INTERVAL_MS = 1_000;
/** Milliseconds that attempts in flight get when the service stops. */
const STOP_TIMEOUT_MS = 8_000;

export interface DispatcherOptions {
  /** How receivers' names become addresses; for tests. */
  resolve?: Resolve;
  /** Milliseconds after which a statement without an answer is given up; for tests. */
  queryTimeoutMs?: number;
  /** Requests in flight at once at most; for tests. */
  maxInFlight?: number;
}

/**
 * The delivery engine of one process: takes events in, sends notifications and writes the results (docs/webhooks.md, How it works).
 * At least once, never lost. Any number of them may run against one database.
 */
export class Dispatcher {
  readonly #pool: Pool;
  readonly #egress: Egress;
  readonly #registration: WorkerRegistration;
  readonly #endpoints: Endpoints;
  readonly #intake: Intake;
  readonly #sender: Sender;
  readonly #results: ResultWriter;
  readonly #health: EndpointHealth;
  readonly #retention: Periodic;
  #ticker: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(context: Context, options: DispatcherOptions = {}) {
    const { config, clock, log, backgroundPool } = context;
    const url = backgroundPool.options.connectionString as string;
    const pool = createPool(url, log, {
      max: MAX_CONNECTIONS,
      background: true,
      answerWithin: options.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
      longestLife: MAX_CONNECTION_AGE_SECONDS,
      name: 'lombard-webhooks',
      setUp: setUpOf(backgroundPool) + CONNECTION_SETTINGS,
    });
    const signer = new Signer(config.brand);
    const egress = new Egress({ allow: config.webhookAllow, timeoutMs: config.webhookTimeout, ...options });
    const results = new ResultWriter(pool, clock, log);
    const health = new EndpointHealth(context, pool);
    const registration = new WorkerRegistration(context, {
      url,
      setUp: setUpOf(backgroundPool),
      name: `${hostname()} ${process.pid}`,
      onEvents: () => this.#intake.wake(),
      onSubscription: (id) => void this.#endpoints.load([id]),
      onRegistered: (kept) => this.#onRegistered(kept),
      onTakenOver: (count) => {
        takenOverTotal.inc(count);
        this.#intake.wake();
      },
    });
    const leases = new Leases(pool, registration);
    const endpoints = new Endpoints(context, { pool, registration, leases, results, reserved: signer.reserved });
    this.#intake = new Intake(context, {
      pool,
      registration,
      endpoints,
      leases,
      send: (endpoint) => this.#sender.send(endpoint),
    });
    this.#sender = new Sender(context, {
      registration,
      endpoints,
      signer,
      egress,
      results,
      health,
      wantClaims: () => this.#intake.wantClaims(),
      maxInFlight: options.maxInFlight,
    });
    const retention = createRetention(context);
    this.#retention = new Periodic({
      name: 'webhook retention',
      intervalMs: RETENTION_INTERVAL_MS,
      log,
      run: () => retention.keep(),
    });
    this.#pool = pool;
    this.#egress = egress;
    this.#registration = registration;
    this.#endpoints = endpoints;
    this.#results = results;
    this.#health = health;
  }

  /** Begins; where the database is away, as soon as it is back. */
  start(): void {
    this.#registration.start();
    this.#retention.start();
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
  }

  /** There may be new events: looks at once. */
  wake(): void {
    this.#intake.wake();
  }

  /** Takes nothing new, gives attempts in flight up to 8 s, puts the rest back. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#sender.stop();
    clearInterval(this.#ticker);
    await Promise.all([this.#intake.stop(), this.#retention.stop()]);
    await this.#endpoints.releaseReady();
    await endsWithin(this.#sender.idle(), STOP_TIMEOUT_MS);
    await this.#egress.close();
    await Promise.all([this.#results.stop(), this.#health.stop()]);
    await this.#registration.stop();
    await this.#pool.end();
  }

  /** @param kept whether the leases are still this worker's */
  #onRegistered(kept: boolean): void {
    // Under a new id, nothing that waits for a slot is still ours. Results of attempts in flight are recorded, and fenced.
    if (!kept) this.#endpoints.dropReady();
    // Changes that were announced while nobody listened are read now.
    this.#endpoints.markAllStale();
    this.#intake.restart();
  }

  #tick(): void {
    let held = 0;
    for (const endpoint of this.#endpoints.all()) {
      held += endpoint.held;
      if (endpoint.ready.length > 0) this.#sender.send(endpoint);
    }
    this.#endpoints.forgetUnused();
    heldDeliveries.set(held);
    this.#intake.poll();
  }
}

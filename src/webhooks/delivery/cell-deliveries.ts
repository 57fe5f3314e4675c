import type { Context } from '../../context.ts';
import type { Pool, Work } from '../../database/database.ts';
import { endsWithin } from '../../process/deadline.ts';
import { Periodic } from '../../process/periodic.ts';
import { Recovery } from '../recovery.ts';
import type { Egress } from '../sending/egress.ts';
import { Endpoints } from './endpoints.ts';
import { EndpointHealth } from './health.ts';
import { Intake } from './intake.ts';
import { Leases } from './leases.ts';
import { ResultWriter } from './result-writer.ts';
import { createRetention } from './retention.ts';
import { type Flights, Sender } from './sender.ts';
import type { Signer } from './signer.ts';
import type { WorkerRegistration } from './worker.ts';

/** Milliseconds between two checks of the day. Partitions are made ahead, and dropped when they are old. */
const RETENTION_INTERVAL_MS = 1_000;
/** Milliseconds that attempts in flight may still take when the service stops. */
const STOP_TIMEOUT_MS = 8_000;

/** What the cells of a process share. */
export interface Shared {
  registration: WorkerRegistration;
  signer: Signer;
  egress: Egress;
  flights: Flights;
  /** The number of cells. */
  cells: number;
}

/** The delivery engine's work in one cell of a process, from its outbox to its results. */
export class CellDeliveries {
  readonly #endpoints: Endpoints;
  readonly #intake: Intake;
  readonly #sender: Sender;
  readonly #results: ResultWriter;
  readonly #health: EndpointHealth;
  readonly #recovery: Recovery;
  readonly #retention: Periodic;
  readonly #leaveToOthers: () => void;

  /** @param pool the engine's own connections to the cell */
  constructor(context: Context, pool: Pool, { registration, signer, egress, flights, cells }: Shared) {
    const { clock, log, activity, rhythm } = context;
    this.#leaveToOthers = () => rhythm && activity.leaves(rhythm.cell);
    const results = new ResultWriter(pool, clock, log);
    const leases = new Leases(pool, registration);
    const { reserved } = signer;
    const endpoints = new Endpoints(context, { pool, registration, leases, results, reserved, cells });
    this.#intake = new Intake(context, {
      pool,
      registration,
      endpoints,
      leases,
      send: (endpoint) => this.#sender.send(endpoint),
      offer: () => rhythm && activity.offers(rhythm.cell),
    });
    this.#results = results;
    this.#endpoints = endpoints;
    const recovery = new Recovery(context, pool, () => this.#intake.wantClaims());
    this.#recovery = recovery;
    this.#health = new EndpointHealth(context, pool, (endpoint) => recovery.note(endpoint));
    this.#sender = new Sender(context, {
      registration,
      endpoints,
      signer,
      egress,
      results,
      health: this.#health,
      recovery,
      wantClaims: () => this.#intake.wantClaims(),
      pingDueAt: (dueMs) => this.#intake.pingDueAt(dueMs),
      flights,
    });
    const retention = createRetention(context);
    this.#retention = new Periodic({
      name: 'webhook retention',
      intervalMs: RETENTION_INTERVAL_MS,
      log,
      run: () => retention.keep(),
    });
  }

  start(): void {
    this.#retention.start();
  }

  /** Work was left: looks for it at once. */
  wake(left: ReadonlySet<Work>): void {
    this.#intake.wake(left);
  }

  /** A subscription has changed. */
  subscriptionChanged(id: string): void {
    void this.#endpoints.load([id]);
  }

  /** The worker is registered (again). @param kept whether the leases are still this worker's */
  registered(kept: boolean): void {
    // Under a new id, nothing that waits for a slot is ours any more. Results of attempts in flight are recorded, and fenced.
    if (!kept) this.#endpoints.dropReady();
    // Reads changes that were announced while nobody listened.
    this.#endpoints.markAllStale();
    this.#intake.restart();
  }

  /** Processes what waits for a slot or a moment. @returns the number of deliveries that it holds */
  tick(): number {
    let held = 0;
    for (const endpoint of this.#endpoints.all()) {
      held += endpoint.held;
      if (endpoint.ready.length > 0) this.#sender.send(endpoint);
    }
    this.#endpoints.forgetUnused();
    this.#intake.poll();
    return held;
  }

  /** Begins no more attempts, and takes in nothing new. */
  async takeNothing(): Promise<void> {
    this.#sender.stop();
    await Promise.all([this.#intake.stop(), this.#retention.stop(), this.#recovery.stop()]);
  }

  /** Puts back what waits, and lets attempts in flight run for up to 8 s. */
  async finish(): Promise<void> {
    const released = await this.#endpoints.releaseReady();
    if (released > 0) this.#leaveToOthers();
    await endsWithin(this.#sender.idle(), STOP_TIMEOUT_MS);
  }

  /** Writes all results that are not written yet. */
  async stop(): Promise<void> {
    await Promise.all([this.#results.stop(), this.#health.stop()]);
  }
}

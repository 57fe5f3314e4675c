import type { Context } from '../../context.ts';
import type { Pool } from '../../database/database.ts';
import { asRun } from '../../process/runs.ts';
import { monotonic } from '../../values/calendar.ts';
import { messageOf } from '../../values/unknown.ts';
import { windowAround } from '../day-window.ts';
import { ClaimTurns, claim, claimPings } from './claim.ts';
import type { Delivery } from './delivery.ts';
import { Discovery } from './discovery.ts';
import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';
import { fanOut } from './fan-out.ts';
import type { Leases } from './leases.ts';
import type { WorkerRegistration } from './worker.ts';

/** Events taken by one statement, notifications made by it (about: an event makes one for each subscription), and pings claimed by one. */
const MAX_EVENTS = 500;
const MAX_NOTIFICATIONS = 5_000;
const MAX_PINGS = 100;
/** Milliseconds between two looks at the database for what nobody announced, and between two for pings after an announcement. */
const POLL_INTERVAL_MS = 100;
const PING_INTERVAL_MS = 10;
const DISCOVERY_INTERVAL_MS = 400;
const REFRESH_INTERVAL_MS = 1_000;
/** The same in one of several cells, where what is written is told (cells/activity.ts); and after a round that failed. */
const CELL_POLL_INTERVAL_MS = 10_000;
const CELL_RETRY_INTERVAL_MS = 1_000;

export interface IntakeParts {
  pool: Pool;
  registration: WorkerRegistration;
  endpoints: Endpoints;
  leases: Leases;
  /** Sends what an endpoint holds. */
  send: (endpoint: Endpoint) => void;
}

/**
 * Takes work in, one statement after the other: new events, then pings, then due deliveries of endpoints with room. It is one loop, so that
 * what the worker holds can always be compared with what the database says it has leased. Where there are several cells, a round looks for
 * what was announced or is due, and seldom for the rest.
 */
export class Intake {
  readonly #context: Context;
  readonly #parts: IntakeParts;
  readonly #turns: ClaimTurns;
  readonly #discovery: Discovery;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #failing = false;
  #claimsWanted = false;
  #eventsWanted = true;
  #pingsWanted = true;
  #discoveryWanted = true;
  /** Milliseconds of service time at which a ping of this worker is tried again. */
  #pingDueMs = Number.POSITIVE_INFINITY;
  /** Monotonic milliseconds of the last round, and of what it does less often. */
  #lastRound = 0;
  #lastEvents = Number.NEGATIVE_INFINITY;
  #lastPings = Number.NEGATIVE_INFINITY;
  #lastDiscovery = Number.NEGATIVE_INFINITY;
  #lastRefresh = 0;

  constructor(context: Context, parts: IntakeParts) {
    this.#context = context;
    this.#parts = parts;
    this.#turns = new ClaimTurns(parts.endpoints);
    this.#discovery = new Discovery(context, parts.pool, parts.endpoints);
  }

  /** There may be new events or pings. */
  wake(): void {
    this.#wantAll();
    this.#run();
  }

  /** A ping is tried again at a moment of service time, in milliseconds. */
  pingDueAt(dueMs: number): void {
    this.#pingDueMs = Math.min(this.#pingDueMs, dueMs);
  }

  /** An endpoint with a backlog has room. */
  wantClaims(): void {
    if (this.#claimsWanted) return;
    this.#claimsWanted = true;
    this.#run();
  }

  /** The worker is registered (again): looks for everything at once. */
  restart(): void {
    this.#parts.leases.markUnknown();
    this.#lastDiscovery = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  /** Begins a round where the last one is long enough ago, where deliveries wait to be cancelled, or where something is due. */
  poll(): void {
    const since = monotonic() - this.#lastRound;
    const due = () => since >= POLL_INTERVAL_MS && !this.#failing && this.#hasDue();
    if (this.#parts.leases.cancelling || since >= this.#pollInterval || due()) this.#run();
  }

  /** Milliseconds after which it looks for what nobody announced. */
  get #pollInterval(): number {
    if (!this.#context.rhythm) return POLL_INTERVAL_MS;
    return this.#failing ? CELL_RETRY_INTERVAL_MS : CELL_POLL_INTERVAL_MS;
  }

  #hasDue(): boolean {
    const { leases, endpoints } = this.#parts;
    const now = this.#context.clock.now().getTime();
    if (this.#discoveryWanted && monotonic() - this.#lastDiscovery >= DISCOVERY_INTERVAL_MS) return true;
    return leases.unknown || this.#pingDueMs <= now || endpoints.hasDue(now);
  }

  #wantAll(): void {
    this.#eventsWanted = true;
    this.#pingsWanted = true;
    this.#discoveryWanted = true;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#running, this.#discovery.stop()]);
  }

  /** Begins a round, or one more after the present one. */
  #run(): void {
    if (this.#stopped) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = this.#rounds().finally(() => {
      this.#running = undefined;
    });
  }

  async #rounds(): Promise<void> {
    const { registration, leases } = this.#parts;
    try {
      do {
        this.#again = false;
        const { id } = registration;
        if (this.#stopped || !registration.working || id === undefined) return;
        await asRun('webhook intake', () => this.#round(id));
        this.#failing = false;
      } while (this.#again);
    } catch (error) {
      leases.markUnknownAfterError();
      this.#wantAll();
      this.#lastRound = monotonic();
      if (!this.#failing)
        this.#context.log.warn({ reason: messageOf(error) }, 'the webhook queue cannot be read; it is tried again');
      this.#failing = true;
    }
  }

  async #round(worker: number): Promise<void> {
    const { endpoints, leases } = this.#parts;
    const now = this.#context.clock.now();
    this.#lastRound = monotonic();
    await leases.reconcile(worker, () => endpoints.heldIds());
    const looks = this.#pollInterval;
    if (this.#eventsWanted || !this.#context.rhythm || this.#since(this.#lastEvents) >= looks)
      await this.#takeEvents(worker, now);
    const pingsWanted = this.#pingsWanted || this.#pingDueMs <= now.getTime();
    if (this.#since(this.#lastPings) >= (pingsWanted ? PING_INTERVAL_MS : looks)) await this.#takePings(worker, now);
    await leases.writeCancelled(worker, now);
    if (this.#since(this.#lastDiscovery) >= Math.max(DISCOVERY_INTERVAL_MS, this.#discoveryWanted ? 0 : looks))
      this.#discover(now);
    if (this.#since(this.#lastRefresh) >= REFRESH_INTERVAL_MS) {
      this.#lastRefresh = this.#lastRound;
      await endpoints.refresh();
    }
    await this.#claimDue(worker, now);
    if (this.#pingsWanted) setTimeout(() => this.#run(), PING_INTERVAL_MS).unref();
  }

  #since(moment: number): number {
    return this.#lastRound - moment;
  }

  async #takeEvents(worker: number, now: Date): Promise<void> {
    const { pool, endpoints } = this.#parts;
    this.#eventsWanted = false;
    this.#lastEvents = this.#lastRound;
    const { taken, more, deliveries, overflowed } = await fanOut(pool, {
      worker,
      window: windowAround(now),
      maxEvents: MAX_EVENTS,
      maxNotifications: MAX_NOTIFICATIONS,
      ...endpoints.rooms(),
      now,
    });
    for (const id of overflowed) endpoints.obtain(id).overflowed();
    await this.#accept(worker, deliveries);
    if (more || taken >= MAX_EVENTS / 2) this.#eventsWanted = this.#again = true;
    if (overflowed.length > 0) this.#claimsWanted = true;
  }

  async #takePings(worker: number, now: Date): Promise<void> {
    const { pool, endpoints } = this.#parts;
    this.#pingsWanted = false;
    this.#lastPings = this.#lastRound;
    const full: string[] = [];
    for (const endpoint of endpoints.all()) if (endpoints.room(endpoint) === 0) full.push(endpoint.id);
    const window = windowAround(now);
    const deliveries = await claimPings(pool, { worker, window, now, full, limit: MAX_PINGS });
    await this.#accept(worker, deliveries);
    if (deliveries.length >= MAX_PINGS) this.#pingsWanted = this.#again = true;
    // Those without room are asked for again.
    if (this.#pingDueMs <= now.getTime()) this.#pingDueMs = Number.POSITIVE_INFINITY;
    if (full.length > 0) this.pingDueAt(now.getTime() + POLL_INTERVAL_MS);
  }

  #discover(now: Date): void {
    if (this.#discovery.running) return;
    this.#discoveryWanted = false;
    this.#lastDiscovery = this.#lastRound;
    this.#discovery.begin(now, () => this.#run());
  }

  /** Claims due deliveries, one client after the other, as far as there is room. */
  async #claimDue(worker: number, now: Date): Promise<void> {
    const { pool, endpoints } = this.#parts;
    this.#claimsWanted = false;
    if (endpoints.isFull()) return;
    const wanted = this.#turns.next(now.getTime());
    if (wanted.size === 0) return;
    const deliveries = await claim(pool, { worker, window: windowAround(now), now, wanted });
    const counts = new Map<string, number>();
    for (const { subscriptionId } of deliveries) counts.set(subscriptionId, (counts.get(subscriptionId) ?? 0) + 1);
    for (const [id, room] of wanted) endpoints.find(id)?.claimed((counts.get(id) ?? 0) >= room, now.getTime());
    await this.#accept(worker, deliveries);
    for (const endpoint of endpoints.all()) {
      if (endpoint.backlog && endpoints.room(endpoint) > 0) this.#again = true;
    }
  }

  /**
   * Hands deliveries on once their subscriptions have been read at the revision that they were leased at, or a later one.
   * @param worker the id under which they were leased. Under another id they are not this worker's own
   */
  async #accept(worker: number, deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const { endpoints, registration, leases, send } = this.#parts;
    const revisionOf = (id: string) => endpoints.find(id)?.settings.revision ?? 0;
    const outdated = new Set<string>();
    for (const { subscriptionId, revision } of deliveries) {
      if (endpoints.obtain(subscriptionId).settings.revision < revision) outdated.add(subscriptionId);
    }
    if (outdated.size > 0) await endpoints.load([...outdated]);
    if (registration.id !== worker) throw new Error('the worker has a new id');
    const accepted: Delivery[] = [];
    const withoutEvent: string[] = [];
    for (const delivery of deliveries) {
      // Where the subscription could not be read, the lease goes back with the next reconciliation.
      if (revisionOf(delivery.subscriptionId) < delivery.revision) leases.markUnknown();
      else if (delivery.body !== '') accepted.push(delivery);
      if (delivery.body === '') withoutEvent.push(delivery.id);
    }
    leases.cancel(withoutEvent);
    for (const endpoint of endpoints.accept(accepted)) send(endpoint);
  }
}

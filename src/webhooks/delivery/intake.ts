import type { Context } from '../../context.ts';
import type { Pool, Work } from '../../database/database.ts';
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

/**
 * Limits of one statement: events that it takes, notifications that it makes (approximately, because an event makes one for each
 * subscription), and pings that it claims.
 */
const MAX_EVENTS = 500;
const MAX_NOTIFICATIONS = 5_000;
const MAX_PINGS = 100;
/** Milliseconds between two checks of the database for work that nobody announced, which is rare (look.ts), and after a failed round. */
const POLL_INTERVAL_MS = 10_000;
const RETRY_AFTER_MS = 200;
/** Milliseconds between two rounds for what is due. */
const DUE_INTERVAL_MS = 100;
/** Milliseconds from one round to the next for announced work. So events that arrive one by one are taken in groups. */
const PACE_MS = 5;
/** Milliseconds between two checks for pings, for deliveries that no endpoint knows, and of the settings of endpoints. */
const PING_INTERVAL_MS = 10;
const DISCOVERY_INTERVAL_MS = 400;
const REFRESH_INTERVAL_MS = 1_000;

/** `working`: a round is running; `again`: another one will follow it; `failing`: the last one failed, and is tried again after a pause. */
type Mode = 'idle' | 'working' | 'again' | 'failing' | 'stopped';

/** What a round looks for: events in the outbox, pings, deliveries that no endpoint knows, and due deliveries of endpoints with room. */
type Want = 'events' | 'pings' | 'unknown' | 'claims';
const UNANNOUNCED = ['events', 'pings', 'unknown'] as const;

export interface IntakeParts {
  pool: Pool;
  registration: WorkerRegistration;
  endpoints: Endpoints;
  leases: Leases;
  /** Sends what an endpoint holds. */
  send: (endpoint: Endpoint) => void;
  /** Tells other processes that there is more than this one has room for. */
  offer: () => void;
}

/**
 * Takes work in, one statement after the other: new events, then pings, then due deliveries of endpoints with room. It is a single loop, so
 * what the worker holds can always be compared with what the database says it has leased. A round looks for what was announced or is due,
 * and occasionally for everything else.
 */
export class Intake {
  readonly #context: Context;
  readonly #parts: IntakeParts;
  readonly #turns: ClaimTurns;
  readonly #discovery: Discovery;
  #running: Promise<void> | undefined;
  #paced: NodeJS.Timeout | undefined;
  #mode: Mode = 'idle';
  readonly #wanted = new Set<Want>(UNANNOUNCED);
  /** Service time in milliseconds at which a ping of this worker is tried again. */
  #pingDueMs = Number.POSITIVE_INFINITY;
  /** Monotonic milliseconds of the last round, and of its less frequent parts. */
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

  /** Work was left. */
  wake(left: ReadonlySet<Work>): void {
    if (left.has('events')) this.#want('events');
    if (left.has('queue')) this.#want('pings', 'unknown');
    const restMs = this.#lastRound + PACE_MS - monotonic();
    if (restMs <= 0) this.#run();
    else this.#paced ??= setTimeout(() => this.#runPaced(), restMs);
  }

  #runPaced(): void {
    this.#paced = undefined;
    this.#run();
  }

  /** A ping is tried again at a moment of service time, in milliseconds. */
  pingDueAt(dueMs: number): void {
    this.#pingDueMs = Math.min(this.#pingDueMs, dueMs);
  }

  /** An endpoint with a backlog has room. */
  wantClaims(): void {
    if (this.#wanted.has('claims')) return;
    this.#want('claims');
    this.#run();
  }

  /** The worker is registered (again): looks for everything at once. */
  restart(): void {
    this.#parts.leases.markUnknown();
    this.#lastDiscovery = Number.NEGATIVE_INFINITY;
    this.#want(...UNANNOUNCED);
    this.#run();
  }

  /** Begins a round if the last one was long enough ago, if deliveries wait to be cancelled, or if something is due. */
  poll(): void {
    const since = monotonic() - this.#lastRound;
    const failing = this.#mode === 'failing';
    const due = () => since >= DUE_INTERVAL_MS && !failing && this.#hasDue();
    if (this.#parts.leases.cancelling || since >= (failing ? RETRY_AFTER_MS : POLL_INTERVAL_MS) || due()) this.#run();
  }

  #hasDue(): boolean {
    const { leases, endpoints } = this.#parts;
    const now = this.#context.clock.now().getTime();
    if (this.#wanted.has('unknown') && monotonic() - this.#lastDiscovery >= DISCOVERY_INTERVAL_MS) return true;
    return leases.unknown || this.#pingDueMs <= now || endpoints.hasDue(now);
  }

  #want(...wanted: readonly Want[]): void {
    for (const want of wanted) this.#wanted.add(want);
  }

  async stop(): Promise<void> {
    this.#mode = 'stopped';
    clearTimeout(this.#paced);
    await Promise.all([this.#running, this.#discovery.stop()]);
  }

  /** Begins a round, or schedules another one after the current round. */
  #run(): void {
    if (this.#mode === 'working') this.#mode = 'again';
    if (this.#mode === 'again' || this.#mode === 'stopped') return;
    this.#running = this.#rounds(this.#mode === 'failing');
  }

  /** @param failed whether the previous round has failed */
  async #rounds(failed: boolean): Promise<void> {
    const { registration, leases } = this.#parts;
    try {
      do {
        const { id } = registration;
        if (!registration.working || id === undefined) {
          // The registration is checked again soon.
          this.#lastRound = Number.NEGATIVE_INFINITY;
          break;
        }
        this.#mode = 'working';
        await asRun('webhook intake', () => this.#round(id));
      } while (this.#is('again'));
      if (!this.#is('stopped')) this.#mode = 'idle';
    } catch (error) {
      leases.markUnknownAfterError();
      this.#want(...UNANNOUNCED);
      this.#lastRound = monotonic();
      if (!failed)
        this.#context.log.warn({ reason: messageOf(error) }, 'the webhook queue cannot be read; it is tried again');
      if (!this.#is('stopped')) this.#mode = 'failing';
    }
  }

  /** Whether the mode is the given one. It may have changed during a wait. */
  #is(mode: Mode): boolean {
    return this.#mode === mode;
  }

  async #round(worker: number): Promise<void> {
    const { endpoints, leases } = this.#parts;
    const now = this.#context.clock.now();
    this.#lastRound = monotonic();
    // Nobody knows about the deliveries that it puts back.
    if (leases.unknown) this.#want('unknown');
    await leases.reconcile(worker, () => endpoints.heldIds());
    if (this.#wanted.has('events') || this.#since(this.#lastEvents) >= POLL_INTERVAL_MS)
      await this.#takeEvents(worker, now);
    const pings = this.#wanted.has('pings') || this.#pingDueMs <= now.getTime();
    if (this.#since(this.#lastPings) >= (pings ? PING_INTERVAL_MS : POLL_INTERVAL_MS))
      await this.#takePings(worker, now);
    await leases.writeCancelled(worker, now);
    const unknown = this.#wanted.has('unknown');
    if (this.#since(this.#lastDiscovery) >= (unknown ? DISCOVERY_INTERVAL_MS : POLL_INTERVAL_MS)) this.#discover(now);
    if (this.#since(this.#lastRefresh) >= REFRESH_INTERVAL_MS) {
      this.#lastRefresh = this.#lastRound;
      await endpoints.refresh();
    }
    await this.#claimDue(worker, now);
    if (this.#wanted.has('pings')) setTimeout(() => this.#run(), PING_INTERVAL_MS).unref();
  }

  /** Schedules another round, for more of the same. */
  #repeat(want: Want): void {
    this.#want(want);
    this.#run();
  }

  #since(moment: number): number {
    return this.#lastRound - moment;
  }

  async #takeEvents(worker: number, now: Date): Promise<void> {
    const { pool, endpoints } = this.#parts;
    this.#wanted.delete('events');
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
    if (more || taken >= MAX_EVENTS / 2) this.#repeat('events');
    if (overflowed.length === 0) return;
    this.#want('claims');
    this.#parts.offer();
  }

  async #takePings(worker: number, now: Date): Promise<void> {
    const { pool, endpoints } = this.#parts;
    this.#wanted.delete('pings');
    this.#lastPings = this.#lastRound;
    const full: string[] = [];
    for (const endpoint of endpoints.all()) if (endpoints.room(endpoint) === 0) full.push(endpoint.id);
    const window = windowAround(now);
    const deliveries = await claimPings(pool, { worker, window, now, full, limit: MAX_PINGS });
    await this.#accept(worker, deliveries);
    if (deliveries.length >= MAX_PINGS) this.#repeat('pings');
    // Pings without room are requested again.
    if (this.#pingDueMs <= now.getTime()) this.#pingDueMs = Number.POSITIVE_INFINITY;
    if (full.length > 0) this.pingDueAt(now.getTime() + DUE_INTERVAL_MS);
  }

  #discover(now: Date): void {
    if (this.#discovery.running) return;
    this.#wanted.delete('unknown');
    this.#lastDiscovery = this.#lastRound;
    this.#discovery.begin(now, () => this.#run());
  }

  /** Claims due deliveries, client by client, as far as there is room. */
  async #claimDue(worker: number, now: Date): Promise<void> {
    const { pool, endpoints } = this.#parts;
    this.#wanted.delete('claims');
    if (endpoints.isFull()) return;
    const wanted = this.#turns.next(now.getTime());
    if (wanted.size === 0) return;
    const deliveries = await claim(pool, { worker, window: windowAround(now), now, wanted });
    const counts = new Map<string, number>();
    for (const { subscriptionId } of deliveries) counts.set(subscriptionId, (counts.get(subscriptionId) ?? 0) + 1);
    for (const [id, room] of wanted) endpoints.find(id)?.claimed((counts.get(id) ?? 0) >= room, now.getTime());
    await this.#accept(worker, deliveries);
    for (const endpoint of endpoints.all()) {
      if (endpoint.backlog && endpoints.room(endpoint) > 0) this.#repeat('claims');
    }
  }

  /**
   * Passes deliveries on once their subscriptions have been read at the revision of the lease or a later one.
   * @param worker the id under which they were leased. If the worker has another id now, they are no longer its own
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
      // If the subscription could not be read, the lease goes back at the next reconciliation.
      if (revisionOf(delivery.subscriptionId) < delivery.revision) leases.markUnknown();
      else if (delivery.body !== '') accepted.push(delivery);
      if (delivery.body === '') withoutEvent.push(delivery.id);
    }
    leases.cancel(withoutEvent);
    for (const endpoint of endpoints.accept(accepted)) send(endpoint);
  }
}

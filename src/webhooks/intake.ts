import { monotonic } from '../calendar.ts';
import type { Context } from '../context.ts';
import type { Pool } from '../database.ts';
import type { Endpoint } from './endpoint.ts';
import {
  cancelLeased,
  cancelWaiting,
  claim,
  claimPings,
  type Delivery,
  discover,
  fanOut,
  MAX_DISCOVERED,
  releaseUnknown,
  windowAround,
} from './queue.ts';
import type { WorkerRegistration } from './worker.ts';

/** Events taken by one statement, notifications made by it (about: each event is one for each subscription), and deliveries claimed by one. */
const FAN_OUT_LIMIT = 500;
const MAX_MADE = 5_000;
const CLAIM_LIMIT = 500;
const PING_LIMIT = 100;
const CANCEL_LIMIT = 1_000;
/** Milliseconds after an error, besides at once, when leases that nobody knows of are looked for: the database may have gone on without us. */
const RECONCILE_AGAIN = [2_000, 10_000, 60_000];
/** Milliseconds between looks at the database without having been woken. */
const POLL = 100;
/** Milliseconds between looks for pings, where something was announced. */
const PINGS = 10;
const DISCOVER = 400;
const REFRESH = 1_000;
/** Milliseconds after its last use for which an endpoint's room is told to the database; then it has the default again. */
const ROOM_KNOWN = 1_000;
/** Deliveries, and characters of their bodies, that a worker holds at most; beyond, they stay in the queue. */
const MAX_HELD = 20_000;
const MAX_HELD_CHARACTERS = 64 * 1024 * 1024;

/** What the intake needs of the dispatcher. */
export interface IntakeHost {
  endpoints: ReadonlyMap<string, Endpoint>;
  endpoint(id: string, clientId: string): Endpoint;
  /** Reads the subscriptions of endpoints. */
  load(ids: readonly string[]): Promise<void>;
  room(endpoint: Endpoint | undefined): number;
  accept(deliveries: readonly Delivery[]): void;
  /** Ids of everything that is held. */
  held(): string[];
}

/**
 * Takes work in, one statement after the other: new events, then pings, then what is due of endpoints with room. One loop, so that what is
 * held and what the database says is leased can always be compared.
 */
export class Intake {
  readonly #context: Context;
  readonly #pool: Pool;
  readonly #registration: WorkerRegistration;
  readonly #host: IntakeHost;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #failing = false;
  #reconcile = false;
  #reconcileAgain: NodeJS.Timeout[] = [];
  #claims = false;
  #pings = true;
  #lastPoll = 0;
  #lastPings = Number.NEGATIVE_INFINITY;
  #lastDiscovery = Number.NEGATIVE_INFINITY;
  #lastRefresh = 0;
  #discovery: Promise<void> | undefined;
  /** Where the last discovery ended that did not find everything. */
  #discovered: string | undefined;
  #cancelled: string[] = [];
  #recheck = new Set<string>();
  /** The client whose turn was last, so that claims go round. */
  #turn = '';

  constructor(context: Context, pool: Pool, registration: WorkerRegistration, host: IntakeHost) {
    this.#context = context;
    this.#pool = pool;
    this.#registration = registration;
    this.#host = host;
  }

  /** There may be new events or pings. */
  wake(): void {
    this.#pings = true;
    this.#run();
  }

  /** An endpoint with a backlog has room. */
  wantClaims(): void {
    if (this.#claims) return;
    this.#claims = true;
    this.#run();
  }

  /** The answer of a statement was lost: leases that nobody knows of are to be put back. */
  reconcile(): void {
    this.#reconcile = true;
  }

  cancel(ids: readonly string[]): void {
    this.#cancelled.push(...ids);
    this.#run();
  }

  recheck(ids: readonly string[]): void {
    for (const id of ids) this.#recheck.add(id);
  }

  onRegistered(): void {
    this.#reconcile = true;
    this.#lastDiscovery = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  tick(): void {
    const now = monotonic();
    if (now - this.#lastPoll >= POLL) this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([this.#running, this.#discovery]);
  }

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
    try {
      do {
        this.#again = false;
        if (this.#stopped || !this.#registration.working) return;
        await this.#round(this.#registration.id as number);
        this.#failing = false;
      } while (this.#again);
    } catch (error) {
      this.#reconcile = true;
      for (const timer of this.#reconcileAgain) clearTimeout(timer);
      this.#reconcileAgain = RECONCILE_AGAIN.map((after) => setTimeout(() => this.reconcile(), after).unref());
      this.#lastPoll = monotonic();
      if (!this.#failing)
        this.#context.log.warn(
          { reason: (error as Error).message },
          'the webhook queue cannot be read; it is tried again',
        );
      this.#failing = true;
    }
  }

  async #round(worker: number): Promise<void> {
    const now = this.#context.clock.now();
    this.#lastPoll = monotonic();
    if (this.#reconcile) {
      this.#reconcile = false;
      await releaseUnknown(this.#pool, worker, this.#host.held());
    }
    await this.#takeEvents(worker, now);
    // Pings that nobody announced are found by looking.
    if (this.#lastPoll - this.#lastPings >= (this.#pings ? PINGS : POLL)) await this.#takePings(worker, now);
    await this.#takeCancelled(worker, now);
    if (this.#lastPoll - this.#lastDiscovery >= DISCOVER) this.#beginDiscovery(now);
    if (this.#lastPoll - this.#lastRefresh >= REFRESH) await this.#refresh();
    await this.#claimDue(worker, now);
    if (this.#pings) setTimeout(() => this.#run(), PINGS).unref();
  }

  /** Whether a worker holds as much as it may. */
  #full(): boolean {
    let held = 0;
    let characters = 0;
    for (const endpoint of this.#host.endpoints.values()) {
      held += endpoint.held;
      for (const delivery of endpoint.ready) characters += delivery.body.length;
    }
    return held > MAX_HELD || characters > MAX_HELD_CHARACTERS;
  }

  async #takeEvents(worker: number, now: Date): Promise<void> {
    const rooms = new Map<string, number>();
    for (const endpoint of this.#host.endpoints.values()) {
      if (this.#lastPoll - endpoint.lastUsed < ROOM_KNOWN) rooms.set(endpoint.id, this.#host.room(endpoint));
    }
    const full = this.#full();
    const defaultRoom = full ? 0 : this.#host.room(undefined);
    const taken = await fanOut(this.#pool, {
      worker,
      window: windowAround(now),
      limit: FAN_OUT_LIMIT,
      most: MAX_MADE,
      defaultRoom,
      rooms: full ? new Map() : rooms,
      now,
    });
    for (const { subscriptionId, clientId } of taken.overflowed)
      this.#host.endpoint(subscriptionId, clientId).backlog = true;
    await this.#accept(worker, taken.deliveries);
    if (taken.more || taken.taken >= FAN_OUT_LIMIT / 2) this.#again = true;
    if (taken.overflowed.length > 0) this.#claims = true;
  }

  async #takePings(worker: number, now: Date): Promise<void> {
    this.#pings = false;
    this.#lastPings = this.#lastPoll;
    const full: string[] = [];
    for (const endpoint of this.#host.endpoints.values()) if (this.#host.room(endpoint) === 0) full.push(endpoint.id);
    const deliveries = await claimPings(this.#pool, {
      worker,
      window: windowAround(now),
      now,
      full,
      limit: PING_LIMIT,
    });
    await this.#accept(worker, deliveries);
    if (deliveries.length >= PING_LIMIT) this.#again = true;
  }

  /**
   * Hands deliveries on, once their subscriptions have been read as they were when the deliveries were leased.
   * @param worker the id under which they were leased: where it is no longer this worker's, they are not its own
   */
  async #accept(worker: number, deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const old = new Set<string>();
    const lost: string[] = [];
    for (const delivery of deliveries) {
      const endpoint = this.#host.endpoint(delivery.subscriptionId, delivery.clientId);
      if (endpoint.revision < delivery.revision) old.add(endpoint.id);
      if (delivery.body === '') lost.push(delivery.id);
    }
    if (old.size > 0) await this.#host.load([...old]);
    if (this.#registration.id !== worker) throw new Error('the worker has got another id meanwhile');
    const readable = (delivery: Delivery) =>
      (this.#host.endpoints.get(delivery.subscriptionId)?.revision ?? 0) >= delivery.revision;
    // Where the subscription could not be read, the lease goes back with the next reconciliation.
    if (deliveries.some((delivery) => !readable(delivery))) this.#reconcile = true;
    if (lost.length > 0) this.cancel(lost);
    this.#host.accept(deliveries.filter((delivery) => delivery.body !== '' && readable(delivery)));
  }

  async #takeCancelled(worker: number, now: Date): Promise<void> {
    if (this.#cancelled.length === 0) return;
    const ids = this.#cancelled;
    this.#cancelled = [];
    await cancelLeased(this.#pool, worker, ids, now);
  }

  /** Beside the loop, which waits for nothing: a bulk of rows that are being written, or have just been deleted, makes it slow. */
  #beginDiscovery(now: Date): void {
    if (this.#discovery) return;
    this.#lastDiscovery = this.#lastPoll;
    this.#discovery = this.#discover(now)
      .catch((error: Error) => {
        this.#context.log.debug(
          { reason: error.message },
          'the webhook queue could not be searched; it is tried again',
        );
      })
      .finally(() => {
        this.#discovery = undefined;
      })
      .then(() => this.#run());
  }

  /** Finds what waits in the queue without anyone of this process knowing: left by others, brought back, asked for again. */
  async #discover(now: Date): Promise<void> {
    const found = await discover(this.#pool, this.#discovered);
    this.#discovered = found.length < MAX_DISCOVERED ? undefined : found.at(-1)?.subscriptionId;
    const unknown = found.filter(
      ({ subscriptionId }) => (this.#host.endpoints.get(subscriptionId)?.revision ?? 0) === 0,
    );
    for (const { subscriptionId } of unknown) this.#host.endpoint(subscriptionId, '');
    for (let at = 0; at < unknown.length; at += FAN_OUT_LIMIT) {
      await this.#host.load(unknown.slice(at, at + FAN_OUT_LIMIT).map((one) => one.subscriptionId));
    }
    for (const { subscriptionId, dueAt } of found) {
      const endpoint = this.#host.endpoint(subscriptionId, '');
      if (endpoint.deleted) await cancelWaiting(this.#pool, subscriptionId, CANCEL_LIMIT, now);
      else endpoint.nextDue = dueAt.getTime();
    }
  }

  /** Notices changes of subscriptions whose announcement was lost. */
  async #refresh(): Promise<void> {
    this.#lastRefresh = this.#lastPoll;
    const used = new Set(this.#recheck);
    this.#recheck.clear();
    for (const endpoint of this.#host.endpoints.values()) if (endpoint.ready.length > 0) used.add(endpoint.id);
    if (used.size > 0) await this.#host.load([...used]);
  }

  /** Claims what is due, in turns of the clients, as far as there is room. */
  async #claimDue(worker: number, now: Date): Promise<void> {
    this.#claims = false;
    if (this.#full()) return;
    const wanted = this.#share(now);
    if (wanted.size === 0) return;
    const deliveries = await claim(this.#pool, { worker, window: windowAround(now), now, wanted });
    const counts = new Map<string, number>();
    for (const { subscriptionId } of deliveries) counts.set(subscriptionId, (counts.get(subscriptionId) ?? 0) + 1);
    for (const [id, room] of wanted) {
      const endpoint = this.#host.endpoints.get(id);
      if (!endpoint) continue;
      endpoint.backlog = (counts.get(id) ?? 0) >= room;
      if (endpoint.nextDue <= now.getTime()) endpoint.nextDue = Number.POSITIVE_INFINITY;
    }
    await this.#accept(worker, deliveries);
    if ([...this.#host.endpoints.values()].some((endpoint) => endpoint.backlog && this.#host.room(endpoint) > 0))
      this.#again = true;
  }

  /** How many of which subscription to claim: one client after the other, beginning behind the one whose turn was last. */
  #share(now: Date): Map<string, number> {
    const ready: { endpoint: Endpoint; room: number }[] = [];
    for (const endpoint of this.#host.endpoints.values()) {
      if (!endpoint.active || endpoint.deleted) continue;
      if (!endpoint.backlog && endpoint.nextDue > now.getTime()) continue;
      const room = this.#host.room(endpoint);
      if (room > 0) ready.push({ endpoint, room });
    }
    const later = (clientId: string) => (clientId > this.#turn ? 0 : 1);
    ready.sort(
      (a, b) =>
        later(a.endpoint.clientId) - later(b.endpoint.clientId) || (a.endpoint.clientId < b.endpoint.clientId ? -1 : 1),
    );
    const wanted = new Map<string, number>();
    let left = CLAIM_LIMIT;
    for (const { endpoint, room } of ready) {
      if (left <= 0) break;
      wanted.set(endpoint.id, Math.min(room, left));
      left -= room;
      this.#turn = endpoint.clientId;
    }
    if (left > 0) this.#turn = '';
    return wanted;
  }
}

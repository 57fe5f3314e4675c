import type { Context } from '../../context.ts';
import type { Pool } from '../../database/database.ts';
import { monotonic } from '../../values/calendar.ts';
import { messageOf } from '../../values/unknown.ts';
import { type EndpointRow, type EndpointSettings, openSettings, readEndpointRows } from '../endpoint-settings.ts';
import type { Delivery } from './delivery.ts';
import { Endpoint } from './endpoint.ts';
import type { Leases } from './leases.ts';
import type { ResultWriter } from './result-writer.ts';
import type { WorkerRegistration } from './worker.ts';

/** Deliveries are claimed ahead for an endpoint: this many milliseconds of work, and at most this number. */
const AHEAD_MS = 500;
const MAX_AHEAD = 500;
/** For an endpoint that this worker does not know yet: deliveries for each of its slots. */
const UNKNOWN_ROOM_FACTOR = 4;
/** If more requests than this are in flight, a failing endpoint gets only one slot. */
const BUSY_IN_FLIGHT = 1_000;
/** Milliseconds after its last use for which an endpoint's room is kept in the database. Afterwards the default applies. */
const ROOM_KNOWN_MS = 1_000;
/** Milliseconds after which an unused endpoint is forgotten. */
const FORGET_AFTER_MS = 300_000;
/** The most deliveries, and characters of their bodies, that a worker holds in all its cells. Others stay in the queue. */
const MAX_HELD = 20_000;
const MAX_HELD_CHARACTERS = 64 * 1024 * 1024;

export interface EndpointsParts {
  pool: Pool;
  registration: WorkerRegistration;
  leases: Leases;
  results: ResultWriter;
  /** Names of the service's own headers, in lower case. */
  reserved: ReadonlySet<string>;
  /** The number of cells that share what the worker may hold. */
  cells: number;
}

/** The endpoints of a worker: their settings, how much they may hold, and what they hold. */
export class Endpoints {
  readonly #context: Context;
  readonly #parts: EndpointsParts;
  readonly #known = new Map<string, Endpoint>();
  /** Ids of endpoints whose subscriptions are read again at the next `refresh`. */
  readonly #stale = new Set<string>();
  #inFlight = 0;

  constructor(context: Context, parts: EndpointsParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Requests in flight to all endpoints. */
  get inFlight(): number {
    return this.#inFlight;
  }

  all(): IterableIterator<Endpoint> {
    return this.#known.values();
  }

  find(id: string): Endpoint | undefined {
    return this.#known.get(id);
  }

  /** The endpoint of a subscription. If it is unknown, it is made, with its subscription still unread. */
  obtain(id: string): Endpoint {
    let endpoint = this.#known.get(id);
    if (!endpoint) {
      endpoint = new Endpoint(id);
      this.#known.set(id, endpoint);
    }
    endpoint.use(monotonic());
    return endpoint;
  }

  /** Takes the first delivery of an endpoint for an attempt. `end` ends the attempt. */
  begin(endpoint: Endpoint): Delivery {
    this.#inFlight += 1;
    return endpoint.begin(monotonic());
  }

  end(endpoint: Endpoint): void {
    this.#inFlight -= 1;
    endpoint.end();
  }

  /** Requests that may be in flight to an endpoint at once. */
  slots(endpoint: Endpoint): number {
    return endpoint.failing && this.#inFlight > BUSY_IN_FLIGHT ? 1 : this.#share();
  }

  /** This worker's share of a subscription's concurrency, which all living workers divide among themselves. */
  #share(): number {
    return Math.max(1, Math.floor(this.#context.config.webhookConcurrency / this.#parts.registration.peers));
  }

  /**
   * How many more deliveries an endpoint may hold: the work of half a second. So a free slot never waits for a statement, and most of a
   * burst never waits in the queue. A failing endpoint holds no more than it has slots.
   */
  room(endpoint: Endpoint): number {
    if (!endpoint.settings.usable) return 0;
    const slots = this.slots(endpoint);
    if (endpoint.failing) return Math.max(0, slots - endpoint.held);
    const ahead = Math.min(Math.ceil((slots * AHEAD_MS) / Math.max(endpoint.durationMs, 1)), MAX_AHEAD);
    return Math.max(0, slots + Math.max(slots, ahead) - endpoint.held);
  }

  /** The rooms of recently used endpoints, and the room of every other one. */
  rooms(): { rooms: Map<string, number>; defaultRoom: number } {
    const rooms = new Map<string, number>();
    if (this.isFull()) return { rooms, defaultRoom: 0 };
    const usedSince = monotonic() - ROOM_KNOWN_MS;
    for (const endpoint of this.#known.values()) {
      if (endpoint.lastUsedMs > usedSince) rooms.set(endpoint.id, this.room(endpoint));
    }
    return { rooms, defaultRoom: UNKNOWN_ROOM_FACTOR * this.#share() };
  }

  /** Whether the worker holds as much as it may. */
  isFull(): boolean {
    let held = 0;
    let characters = 0;
    for (const endpoint of this.#known.values()) {
      held += endpoint.held;
      for (const delivery of endpoint.ready) characters += delivery.body.length;
    }
    const { cells } = this.#parts;
    return held > MAX_HELD / cells || characters > MAX_HELD_CHARACTERS / cells;
  }

  /** Whether deliveries of an endpoint with room are due. @param now milliseconds of service time */
  hasDue(now: number): boolean {
    for (const endpoint of this.#known.values()) if (endpoint.mayClaim(now) && this.room(endpoint) > 0) return true;
    return false;
  }

  /** Reads the subscriptions of known endpoints. If that fails, they are read again at the next `refresh`. Never throws. */
  async load(ids: readonly string[]): Promise<void> {
    const known = ids.filter((id) => this.#known.has(id));
    if (known.length === 0) return;
    try {
      for (const row of await readEndpointRows(this.#parts.pool, known)) {
        const endpoint = this.#known.get(row.id);
        if (!endpoint || endpoint.settings.revision >= row.revision) continue;
        endpoint.apply(this.#settings(endpoint, row));
        this.#refuse(endpoint);
      }
    } catch (error) {
      this.#context.log.warn(
        { reason: messageOf(error) },
        'webhook subscriptions could not be read; they are read again',
      );
      for (const id of known) this.#stale.add(id);
    }
  }

  #settings(endpoint: Endpoint, row: EndpointRow): EndpointSettings {
    try {
      return openSettings(row, this.#context.vault, this.#parts.reserved);
    } catch (error) {
      // For example, sealed with another master key. Nothing is sent that cannot be signed properly.
      this.#context.log.error(
        { subscription: row.id, reason: messageOf(error) },
        'a webhook subscription cannot be used',
      );
      const { revision, deleted } = row;
      return { ...endpoint.settings, revision, deleted, active: false, usable: false };
    }
  }

  /** Reads again what failed before and what is about to be sent, because the announcement of a change may have been lost. */
  async refresh(): Promise<void> {
    const ids = new Set(this.#stale);
    this.#stale.clear();
    for (const endpoint of this.#known.values()) if (endpoint.ready.length > 0) ids.add(endpoint.id);
    if (ids.size > 0) await this.load([...ids]);
  }

  /** Changes may have been missed: the next `refresh` reads every subscription. */
  markAllStale(): void {
    for (const id of this.#known.keys()) this.#stale.add(id);
  }

  /** Takes deliveries that were just leased for endpoints whose subscription has been read. Returns those endpoints. */
  accept(deliveries: readonly Delivery[]): Set<Endpoint> {
    const touched = new Set<Endpoint>();
    for (const delivery of deliveries) {
      const endpoint = this.obtain(delivery.subscriptionId);
      endpoint.add(delivery);
      touched.add(endpoint);
    }
    for (const endpoint of touched) this.#refuse(endpoint);
    return touched;
  }

  /** Handles deliveries that may no longer be sent: they go back to the queue, or are cancelled if the subscription was deleted. */
  #refuse(endpoint: Endpoint): void {
    const refused = endpoint.removeRefused().map((delivery) => delivery.id);
    if (refused.length === 0) return;
    if (endpoint.settings.deleted) this.#parts.leases.cancel(refused);
    else void this.#parts.leases.release(refused);
  }

  /** Puts back everything that waits for a slot. @returns the number of deliveries */
  async releaseReady(): Promise<number> {
    const released = this.#removeReady();
    await this.#parts.leases.release(released);
    return released.length;
  }

  /** Forgets everything that waits for a slot, because its leases now belong to another worker. */
  dropReady(): void {
    this.#removeReady();
  }

  #removeReady(): string[] {
    return [...this.#known.values()].flatMap((endpoint) => endpoint.removeAll().map((delivery) => delivery.id));
  }

  /** Ids of all deliveries whose leases this worker needs: waiting for a slot, in flight, or with an unwritten result. */
  heldIds(): string[] {
    const ids = this.#parts.results.unwritten();
    for (const endpoint of this.#known.values()) for (const delivery of endpoint.ready) ids.push(delivery.id);
    return ids;
  }

  /** Forgets endpoints that have not been used for five minutes. */
  forgetUnused(): void {
    const usedSince = monotonic() - FORGET_AFTER_MS;
    for (const endpoint of this.#known.values()) if (endpoint.idleSince(usedSince)) this.#known.delete(endpoint.id);
  }
}

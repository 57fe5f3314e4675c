import { type EndpointSettings, UNREAD_SETTINGS } from '../endpoint-settings.ts';
import type { Delivery } from './delivery.ts';

/** The number of consecutive failures after which an endpoint counts as failing, and the number after which its attempts are paced. */
const FAILING_AFTER = 3;
const PACED_AFTER = 50;
/** Milliseconds between two attempts of a paced endpoint. */
const PACE_MS = 50;
/** The assumed duration of an attempt before the first one, in milliseconds, and the weight of the last attempt in the average. */
const INITIAL_DURATION_MS = 100;
const DURATION_WEIGHT = 1 / 8;

/** What a worker knows about one subscription, and the deliveries that it holds for it. */
export class Endpoint {
  readonly id: string;
  #settings = UNREAD_SETTINGS;
  /** Leased deliveries that wait for a slot, first in, first out. */
  #ready: Delivery[] = [];
  #inFlight = 0;
  /** Whether the queue may contain more due deliveries, and the service time (milliseconds) from which that is so. */
  #backlog = false;
  #nextDueMs = Number.POSITIVE_INFINITY;
  /** Failures since the last success, in this worker. */
  #failures = 0;
  /** Monotonic milliseconds of the last failure, unless an attempt has begun and succeeded since. */
  #failedMs: number | undefined;
  #durationMs = INITIAL_DURATION_MS;
  /** Monotonic milliseconds: a paced endpoint is not tried before the first; the second is its last use. */
  #notBeforeMs = 0;
  #lastUsedMs = 0;

  constructor(id: string) {
    this.id = id;
  }

  get settings(): EndpointSettings {
    return this.#settings;
  }

  /** Whether its subscription has been read. */
  get read(): boolean {
    return this.#settings.revision > 0;
  }

  get ready(): readonly Delivery[] {
    return this.#ready;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get held(): number {
    return this.#ready.length + this.#inFlight;
  }

  get backlog(): boolean {
    return this.#backlog;
  }

  get failing(): boolean {
    return this.#failures >= FAILING_AFTER;
  }

  /** Milliseconds that its attempts take, on average. */
  get durationMs(): number {
    return this.#durationMs;
  }

  get lastUsedMs(): number {
    return this.#lastUsedMs;
  }

  apply(settings: EndpointSettings): void {
    this.#settings = settings;
  }

  use(monotonicMs: number): void {
    this.#lastUsedMs = monotonicMs;
  }

  add(delivery: Delivery): void {
    this.#ready.push(delivery);
  }

  /** Whether a delivery may be sent now. Pings are sent to inactive subscriptions too (service interface, POST /webhooks/ping). */
  #takes(delivery: Delivery): boolean {
    const { deleted, usable, active } = this.#settings;
    return !deleted && usable && (active || delivery.type === 'PING');
  }

  /** Removes and returns the deliveries that may no longer be sent. */
  removeRefused(): Delivery[] {
    const refused = this.#ready.filter((delivery) => !this.#takes(delivery));
    if (refused.length > 0) this.#ready = this.#ready.filter((delivery) => this.#takes(delivery));
    return refused;
  }

  /** Removes and returns everything that waits for a slot. */
  removeAll(): Delivery[] {
    return this.#ready.splice(0);
  }

  /** Whether it may be tried now. An endpoint that keeps failing is tried at a limited pace. */
  mayTry(monotonicMs: () => number): boolean {
    if (this.#failures < PACED_AFTER) return true;
    const now = monotonicMs();
    if (now < this.#notBeforeMs) return false;
    this.#notBeforeMs = now + PACE_MS;
    return true;
  }

  /** Takes the first delivery for an attempt. */
  begin(monotonicMs: number): Delivery {
    const delivery = this.#ready.shift();
    if (!delivery) throw new Error('the endpoint has no delivery');
    this.#inFlight += 1;
    this.#lastUsedMs = monotonicMs;
    return delivery;
  }

  end(): void {
    this.#inFlight -= 1;
  }

  /**
   * Records an attempt that has ended.
   * @param monotonicMs when it ended
   * @returns whether the endpoint has recovered: the attempt succeeded, and began after the last failure
   */
  record(success: boolean, durationMs: number, monotonicMs: number): boolean {
    this.#failures = success ? 0 : this.#failures + 1;
    this.#durationMs += (durationMs - this.#durationMs) * DURATION_WEIGHT;
    const recovered = success && this.#failedMs !== undefined && monotonicMs - durationMs >= this.#failedMs;
    if (recovered) this.#failedMs = undefined;
    else if (!success) this.#failedMs = monotonicMs;
    return recovered;
  }

  /** A delivery will be due again at a moment of service time. */
  retryAt(dueMs: number): void {
    this.#nextDueMs = Math.min(this.#nextDueMs, dueMs);
  }

  /** The first delivery in the queue will be due at a moment of service time. */
  discovered(dueMs: number): void {
    this.#nextDueMs = dueMs;
  }

  /** Deliveries were left in the queue because there was no room. */
  overflowed(): void {
    this.#backlog = true;
  }

  /** Everything that was due at `now` (milliseconds of service time) has been claimed; `more` if there may be more. */
  claimed(more: boolean, now: number): void {
    this.#backlog = more;
    if (this.#nextDueMs <= now) this.#nextDueMs = Number.POSITIVE_INFINITY;
  }

  /** Whether the queue may contain deliveries for it that are due at a moment of service time. */
  mayClaim(now: number): boolean {
    const { active, deleted } = this.#settings;
    return active && !deleted && (this.#backlog || this.#nextDueMs <= now);
  }

  /** Whether it holds nothing and was last used before a moment. */
  idleSince(monotonicMs: number): boolean {
    return this.held === 0 && !this.#backlog && this.#lastUsedMs < monotonicMs;
  }
}

import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { type Span, tracing } from '../../process/tracing.ts';
import { monotonic } from '../../values/calendar.ts';
import type { Recovery } from '../recovery.ts';
import type { Egress, OutgoingRequest } from '../sending/egress.ts';
import { HTTP_GONE, type Outcome, succeeded } from '../sending/outcome.ts';
import type { Attempt, AttemptResult } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';
import type { EndpointHealth } from './health.ts';
import { attemptDuration, attemptsTotal, finishedTotal, firstAttemptDelay } from './metrics.ts';
import type { ResultWriter } from './result-writer.ts';
import { nextWait, parseRetryAfter } from './schedule.ts';
import type { Signer } from './signer.ts';
import type { WorkerRegistration } from './worker.ts';

/** Milliseconds until a receiver has noticed that its connection was given up. The slot stays taken until then. */
const CLOSE_NOTICE_MS = 25;

type AttemptVerdict = Pick<AttemptResult, 'status' | 'dueAt' | 'asked'>;
const DELIVERED: AttemptVerdict = { status: 'delivered', dueAt: null, asked: false };
const FAILED: AttemptVerdict = { status: 'failed', dueAt: null, asked: false };

export interface SenderParts {
  registration: WorkerRegistration;
  endpoints: Endpoints;
  signer: Signer;
  egress: Egress;
  results: ResultWriter;
  health: EndpointHealth;
  recovery: Recovery;
  /** An endpoint with a backlog has room for more deliveries. */
  wantClaims: () => void;
  /** A ping is tried again at a moment of service time, in milliseconds. */
  pingDueAt: (dueMs: number) => void;
  flights: Flights;
}

/** Sends what endpoints hold, as many at once as each has slots, and passes the results on. */
export class Sender {
  readonly #context: Context;
  readonly #parts: SenderParts;
  readonly #endpoints: Endpoints;
  readonly #registration: WorkerRegistration;
  readonly #flights: Flights;
  /** Endpoints that have to wait because too much is in flight, in the order of their turns. */
  readonly #waiting = new Set<Endpoint>();
  #serving = false;
  #stopping = false;
  #onIdle: (() => void) | undefined;

  constructor(context: Context, parts: SenderParts) {
    this.#context = context;
    this.#parts = parts;
    this.#endpoints = parts.endpoints;
    this.#registration = parts.registration;
    this.#flights = parts.flights;
  }

  /** Sends the deliveries of an endpoint that have a free slot. */
  send(endpoint: Endpoint): void {
    const slots = this.#endpoints.slots(endpoint);
    const { id: worker, registered } = this.#registration;
    while (
      endpoint.ready.length > 0 &&
      endpoint.inFlight < slots &&
      worker !== undefined &&
      registered &&
      !this.#stopping
    ) {
      if (this.#flights.isFull(this.#endpoints.inFlight)) {
        this.#waiting.add(endpoint);
        return;
      }
      if (!endpoint.mayTry(monotonic)) return;
      this.#attempt(endpoint, worker);
    }
    if (endpoint.backlog && endpoint.ready.length <= slots / 2) this.#parts.wantClaims();
  }

  /** Begins no more attempts. */
  stop(): void {
    this.#stopping = true;
  }

  /** Resolves once nothing is in flight. */
  idle(): Promise<void> {
    if (this.#endpoints.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Gives free requests to the endpoints that have waited longest. */
  #serveWaiting(): void {
    // An attempt may end at once (a blocked address) and call this again. The outer loop then goes on with the slot that was freed.
    if (this.#serving) return;
    this.#serving = true;
    try {
      for (const endpoint of this.#waiting) {
        if (this.#flights.isFull(this.#endpoints.inFlight)) return;
        this.#waiting.delete(endpoint);
        this.send(endpoint);
      }
    } finally {
      this.#serving = false;
    }
  }

  #attempt(endpoint: Endpoint, worker: number): void {
    const { signer, egress, results } = this.#parts;
    const delivery = this.#endpoints.begin(endpoint);
    this.#flights.begin();
    const attempt: Attempt = { delivery, worker, deliveryId: randomUUID(), startedAt: this.#context.clock.now() };
    const { revision } = endpoint.settings;
    if (delivery.attempts === 0)
      firstAttemptDelay.observe(Math.max(0, attempt.startedAt.getTime() - delivery.createdAt.getTime()) / 1_000);
    const request = signer.request(endpoint, attempt);
    const span = beginAttempt(request, attempt);
    results.began(delivery);
    const free = () => {
      this.#endpoints.end(endpoint);
      this.#flights.end();
      this.#serveWaiting();
      this.send(endpoint);
      if (this.#onIdle && this.#endpoints.inFlight === 0) this.#onIdle();
    };
    egress.dispatch(request, (outcome) => {
      span?.end({ 'http.response.status_code': outcome.statusCode ?? 0 }, outcome.reason ?? undefined);
      // Interrupted by the stop of the service. The delivery is put back as if the attempt had not begun.
      if (outcome.reason === 'interrupted') results.abandoned(delivery);
      else this.#finish(endpoint, attempt, { outcome, revision });
      if (outcome.reason === 'timeout') setTimeout(free, CLOSE_NOTICE_MS);
      else free();
    });
  }

  /** @param end `revision`: of the subscription when the attempt began */
  #finish(endpoint: Endpoint, attempt: Attempt, end: { outcome: Outcome; revision: number }): void {
    const { outcome, revision } = end;
    const success = succeeded(outcome);
    attemptsTotal.inc({ outcome: success ? 'delivered' : (outcome.reason ?? 'status') });
    attemptDuration.observe(outcome.durationMs / 1_000);
    if (endpoint.record(success, outcome.durationMs, monotonic())) this.#parts.recovery.note(endpoint);
    const now = this.#context.clock.now();
    const verdict = success ? DELIVERED : this.#failure(endpoint, attempt.delivery, outcome);
    const result: AttemptResult = { ...attempt, ...verdict, outcome, now };
    if (result.status !== 'pending') finishedTotal.inc({ status: result.status });
    if (result.dueAt && attempt.delivery.type === 'PING') this.#parts.pingDueAt(result.dueAt.getTime());
    else if (result.dueAt) endpoint.retryAt(result.dueAt.getTime());
    this.#parts.health.note(endpoint, outcome, revision);
    this.#parts.results.add(result);
  }

  /** The result of a failed attempt for the notification (docs/decisions.md, 6). */
  #failure(endpoint: Endpoint, delivery: Delivery, outcome: Outcome): AttemptVerdict {
    if (outcome.statusCode === HTTP_GONE || endpoint.settings.deleted) return FAILED;
    const now = this.#context.clock.now();
    const retryAfter = parseRetryAfter(outcome.headers?.['retry-after'], now);
    const made = delivery.roundAttempts + 1;
    const wait = nextWait(this.#context.config.webhookRetries, { made, retryAfter, random: Math.random() });
    if (wait === undefined) return FAILED;
    return { status: 'pending', dueAt: new Date(now.getTime() + wait), asked: retryAfter !== undefined };
  }
}

/** Begins the trace span of an attempt, as part of the trace that caused the event, and sends it along. Does nothing if nobody collects traces. */
function beginAttempt(request: OutgoingRequest, { delivery, deliveryId }: Attempt): Span | undefined {
  const span = tracing()?.begin(`deliver ${delivery.type}`, {
    kind: 'client',
    parent: delivery.traceparent,
    attributes: {
      'http.request.method': request.method,
      'server.address': request.url.hostname,
      'lombard.notification_id': delivery.id,
      'lombard.delivery_id': deliveryId,
      'lombard.client_id': delivery.clientId,
    },
  });
  // The subscription's own header of that name takes precedence.
  const own = request.headers.some((part, index) => index % 2 === 0 && part.toLowerCase() === 'traceparent');
  if (span && !own) request.headers.push('traceparent', span.traceparent);
  return span;
}

/** The most requests in flight at once in a process. Each is an open file. */
const MAX_IN_FLIGHT = 2_000;

/** Counts the requests in flight of a process, which its cells share. A cell always gets its part, however busy the others are. */
export class Flights {
  readonly #max: number;
  readonly #part: number;
  #inFlight = 0;

  constructor(cells: number, max = MAX_IN_FLIGHT) {
    this.#max = max;
    this.#part = Math.ceil(max / cells);
  }

  begin(): void {
    this.#inFlight += 1;
  }

  end(): void {
    this.#inFlight -= 1;
  }

  /** Whether a cell has to wait. @param own requests in flight of the cell */
  isFull(own: number): boolean {
    return own >= this.#part && this.#inFlight >= this.#max;
  }
}

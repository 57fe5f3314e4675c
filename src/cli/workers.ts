import cluster, { type Worker } from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import { endsWithin, inTime } from '../process/deadline.ts';
import type { Logger } from '../process/log.ts';
import { metrics } from '../process/metrics.ts';
import { monotonic } from '../values/calendar.ts';
import { CommandFailure } from './failure.ts';
import type { Running } from './running.ts';

/** Milliseconds to wait before restarting a worker that ended soon after its start: the first time, the second, and so on. */
const RESTART_AFTER_MS = [100, 1_000, 2_000, 5_000];
/** Milliseconds after which a worker counts as healthy. */
const HEALTHY_RUN_MS = 10_000;
/** Milliseconds after which workers that do not end by themselves are killed. */
const MAX_STOP_MS = 22_000;

/** Milliseconds in which a worker has to report its condition. */
const MAX_ANSWER_MS = 2_000;

/** What a worker tells the primary once it serves. */
export interface Ready {
  running: Running;
  demonstration: boolean;
}

/** A worker's answer to the primary about its condition. */
export interface Condition {
  fault: string | undefined;
  metrics: MetricObjectWithValues<MetricValue<string>>[];
}

/** A message between the primary and its workers. The primary asks with a number, and the worker answers with the same number. */
export interface Question {
  ask: number;
}

export type Message = { ready: Ready } | { answer: number; condition: Condition };

/** The worker processes of a primary (LOMBARD_WORKERS). A worker that ends is restarted. */
export class Workers {
  readonly #log: Logger;
  #environment: Record<string, string> = {};
  #maxStopMs = MAX_STOP_MS;
  readonly #alive = new Set<Worker>();
  readonly #kept: Promise<void>[] = [];
  readonly #asked = new Map<number, (condition: Condition) => void>();
  /** The workers by their place, from 1. A replacement gets the same place. */
  readonly #places = new Map<number, Worker>();
  #questions = 0;
  #count = 0;
  #stopping = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Starts the workers. At a first start, the first worker creates keys, tokens and the demonstration, so the others start when it is
   * ready.
   * @param options `environment`: additions to the environment of this process; `drain`: milliseconds that they go on serving after they
   * have been told to stop
   * @returns what the first worker reports
   * @throws CommandFailure if the first worker fails; it has written the reason
   */
  async start(count: number, options: { environment: Record<string, string>; drain: number }): Promise<Ready> {
    this.#environment = options.environment;
    this.#count = count;
    this.#maxStopMs = options.drain + MAX_STOP_MS;
    const first = await this.#add(1);
    for (let place = 2; place <= count && !this.#stopping; place += 1) await this.#add(place).catch(() => {});
    return first;
  }

  /** Why not all of them are ready; undefined if they are. */
  async fault(): Promise<string | undefined> {
    if (this.#stopping) return 'the service is stopping';
    if (this.#count === 0 || this.#places.size < this.#count) return 'the service is starting';
    const conditions = await this.#conditions();
    const unwell = conditions.find(([, condition]) => !condition || condition.fault);
    if (!unwell) return undefined;
    const [place, condition] = unwell;
    return `process ${place}: ${condition?.fault ?? 'does not answer'}`;
  }

  /** The metrics of each worker, with the label `process`: its place, or `primary`. */
  async metrics(): Promise<{ contentType: string; text: string }> {
    const own = { place: 'primary', metrics: await metrics.getMetricsAsJSON() };
    const theirs = (await this.#conditions()).map(([place, condition]) => ({
      place: String(place),
      metrics: condition?.metrics ?? [],
    }));
    const labelled = [own, ...theirs].map((one) =>
      one.metrics.map((metric) => ({
        ...metric,
        // Each has a label of its own, so summing changes no value and drops none.
        aggregator: 'sum',
        values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, process: one.place } })),
      })),
    );
    const merged = AggregatorRegistry.aggregate(labelled);
    return { contentType: merged.contentType, text: await merged.metrics() };
  }

  #conditions(): Promise<[number, Condition | undefined][]> {
    return Promise.all(
      [...this.#places].map(async ([place, worker]): Promise<[number, Condition | undefined]> => {
        this.#questions += 1;
        const question: Question = { ask: this.#questions };
        const answered = new Promise<Condition>((resolve) => this.#asked.set(question.ask, resolve));
        try {
          if (!worker.isConnected()) return [place, undefined];
          worker.send(question, () => {});
          return [place, await inTime(answered, MAX_ANSWER_MS, () => new Error('no answer')).catch(() => undefined)];
        } finally {
          this.#asked.delete(question.ask);
        }
      }),
    );
  }

  /** Asks the workers to stop, and kills those that do not stop in time. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const worker of this.#alive) worker.process.kill('SIGTERM');
    await endsWithin(Promise.all(this.#kept), this.#maxStopMs);
    for (const worker of this.#alive) worker.process.kill('SIGKILL');
  }

  #add(place: number): Promise<Ready> {
    const started = this.#fork(place);
    this.#kept.push(this.#keep(place, started));
    return started.ready;
  }

  #fork(place: number): { worker: Worker; ready: Promise<Ready>; ended: Promise<void> } {
    const worker = cluster.fork(this.#environment);
    this.#alive.add(worker);
    this.#places.set(place, worker);
    const ready = Promise.withResolvers<Ready>();
    const ended = Promise.withResolvers<void>();
    worker.on('message', (message: Message) => {
      if ('ready' in message) ready.resolve(message.ready);
      else this.#asked.get(message.answer)?.(message.condition);
    });
    worker.once('exit', (code) => {
      this.#alive.delete(worker);
      // The worker has written the reason itself.
      ready.reject(new CommandFailure('', code === 2 ? 2 : 1));
      ended.resolve();
    });
    ready.promise.catch(() => {});
    return { worker, ready: ready.promise, ended: ended.promise };
  }

  async #keep(place: number, started: { worker: Worker; ended: Promise<void> }): Promise<void> {
    let failures = 0;
    for (let current = started; ; current = this.#fork(place)) {
      const began = monotonic();
      await current.ended;
      if (this.#stopping) return;
      failures = monotonic() - began < HEALTHY_RUN_MS ? failures + 1 : 0;
      const wait = RESTART_AFTER_MS[Math.min(failures, RESTART_AFTER_MS.length - 1)] ?? 0;
      this.#log.warn({ worker: current.worker.process.pid, wait }, 'a worker has ended; it is started again');
      await pause(wait);
      if (this.#stopping) return;
    }
  }
}

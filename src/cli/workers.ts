import cluster, { type Worker } from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from '../calendar.ts';
import { endsWithin } from '../deadline.ts';
import type { Logger } from '../log.ts';
import { CommandFailure } from './failure.ts';
import type { Running } from './running.ts';

/** Milliseconds to wait before a worker is started again that ended soon after its start: the first time, the second, and so on. */
const RESTART_AFTER_MS = [100, 1_000, 2_000, 5_000];
/** Milliseconds after which a worker counts as healthy. */
const HEALTHY_RUN_MS = 10_000;
/** Milliseconds after which workers that do not end by themselves are killed. */
const MAX_STOP_MS = 22_000;

/** What a worker tells the primary once it serves. */
export interface Ready {
  running: Running;
  demonstration: boolean;
}

/** The worker processes of a primary (LOMBARD_WORKERS). A worker that ends is started again. */
export class Workers {
  readonly #log: Logger;
  readonly #environment: Record<string, string>;
  readonly #alive = new Set<Worker>();
  readonly #kept: Promise<void>[] = [];
  #stopping = false;

  /** @param environment what the workers have besides the environment of this process */
  constructor(log: Logger, environment: Record<string, string>) {
    this.#log = log;
    this.#environment = environment;
  }

  /**
   * Starts the workers. At a first start, the first worker creates keys, tokens and the demonstration, so the others start when it is
   * ready.
   * @returns what the first worker tells
   * @throws CommandFailure if the first worker fails; it has written the reason
   */
  async start(count: number): Promise<Ready> {
    const first = await this.#add();
    for (let index = 1; index < count && !this.#stopping; index += 1) await this.#add().catch(() => {});
    return first;
  }

  /** Asks the workers to stop, and kills those that do not in time. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const worker of this.#alive) worker.process.kill('SIGTERM');
    await endsWithin(Promise.all(this.#kept), MAX_STOP_MS);
    for (const worker of this.#alive) worker.process.kill('SIGKILL');
  }

  #add(): Promise<Ready> {
    const started = this.#fork();
    this.#kept.push(this.#keep(started));
    return started.ready;
  }

  #fork(): { worker: Worker; ready: Promise<Ready>; ended: Promise<void> } {
    const worker = cluster.fork(this.#environment);
    this.#alive.add(worker);
    const ready = Promise.withResolvers<Ready>();
    const ended = Promise.withResolvers<void>();
    worker.once('message', ready.resolve);
    worker.once('exit', (code) => {
      this.#alive.delete(worker);
      // The worker has written the reason itself.
      ready.reject(new CommandFailure('', code === 2 ? 2 : 1));
      ended.resolve();
    });
    ready.promise.catch(() => {});
    return { worker, ready: ready.promise, ended: ended.promise };
  }

  async #keep(started: { worker: Worker; ended: Promise<void> }): Promise<void> {
    let failures = 0;
    for (let current = started; ; current = this.#fork()) {
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

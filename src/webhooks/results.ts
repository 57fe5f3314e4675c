import type { Clock } from '../calendar.ts';
import type { Pool } from '../database.ts';
import { endsWithin } from '../deadline.ts';
import type { Logger } from '../log.ts';
import { type Delivery, flushResults, inWindow, type WorkerResult, windowAround } from './queue.ts';

/** Milliseconds that results wait for others, results in one statement at most, and the wait after a failed statement. */
const FLUSH_AFTER = 5;
const FLUSH_AT = 500;
const RETRY_AFTER = 200;
/** Milliseconds for the last results when the service stops. */
const STOP_WITHIN = 1_500;

/** Classes of SQLSTATE that say that a value is at fault, not the database: 22 data exception, 23 constraint. */
const FAULTY_VALUE = /^2[23]/;

/** Collects results and writes them in batches; keeps them while the database is away. */
export class ResultWriter {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onWritten: () => void;
  /** Every delivery that was begun and is not written yet. */
  readonly #unwritten = new Map<string, Delivery>();
  #waiting: WorkerResult[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #failing = false;
  #stopped = false;

  constructor(pool: Pool, clock: Clock, log: Logger, onWritten: () => void) {
    this.#pool = pool;
    this.#clock = clock;
    this.#log = log;
    this.#onWritten = onWritten;
  }

  began(delivery: Delivery): void {
    this.#unwritten.set(delivery.id, delivery);
  }

  /** An attempt that was cut short by the stop of the service: its lease goes back with the worker's others. */
  abandoned(delivery: Delivery): void {
    this.#unwritten.delete(delivery.id);
  }

  add(result: WorkerResult): void {
    this.#waiting.push(result);
    if (this.#writing) return;
    if (this.#waiting.length >= FLUSH_AT) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), FLUSH_AFTER);
  }

  /** Ids of deliveries whose leases are needed until their results are written. */
  unwritten(): string[] {
    return [...this.#unwritten.keys()];
  }

  /** Writes what there is, for at most 1.5 s. */
  async stop(): Promise<void> {
    const limit = AbortSignal.timeout(STOP_WITHIN);
    while ((this.#waiting.length > 0 || this.#writing) && !limit.aborted) {
      this.#write();
      if (this.#writing) await endsWithin(this.#writing, RETRY_AFTER);
    }
    clearTimeout(this.#timer);
    this.#stopped = true;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, FLUSH_AT);
    this.#writing = this.#writeBatch(batch).then(
      () => {
        this.#failing = false;
        this.#ended(batch);
      },
      (error: Error) => {
        if (!this.#failing)
          this.#log.warn(
            { reason: error.message, results: batch.length },
            'webhook results cannot be written; they are kept',
          );
        this.#failing = true;
        this.#waiting.unshift(...batch);
        this.#writing = undefined;
        if (!this.#stopped) this.#timer = setTimeout(() => this.#write(), RETRY_AFTER);
      },
    );
  }

  #ended(batch: readonly WorkerResult[]): void {
    // Under another id it may have been leased, and begun, once more.
    for (const { delivery } of batch)
      if (this.#unwritten.get(delivery.id) === delivery) this.#unwritten.delete(delivery.id);
    this.#writing = undefined;
    if (this.#stopped) return;
    if (this.#waiting.length >= FLUSH_AT) this.#write();
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#write(), FLUSH_AFTER);
    this.#onWritten();
  }

  async #writeBatch(batch: readonly WorkerResult[]): Promise<void> {
    const window = windowAround(this.#clock.now());
    // Nearly always one group: a worker changes its id only when it was taken for dead, and few results are older than a week (below zero).
    const groups = Map.groupBy(batch, ({ worker, delivery }) =>
      inWindow(window, delivery.createdAt) ? worker : -worker,
    );
    for (const group of groups.values()) {
      const { worker, delivery } = group[0] as WorkerResult;
      const days = inWindow(window, delivery.createdAt) ? window : undefined;
      try {
        await flushResults(this.#pool, worker, days, group);
      } catch (error) {
        if (!FAULTY_VALUE.test((error as { code?: string }).code ?? '')) throw error;
        for (const result of group) await this.#writeAlone(worker, days, result);
      }
    }
  }

  /** One result whose batch was refused for a value in it: where it is this one, what the receiver sent is left out. */
  async #writeAlone(
    worker: number,
    days: ReturnType<typeof windowAround> | undefined,
    result: WorkerResult,
  ): Promise<void> {
    try {
      await flushResults(this.#pool, worker, days, [result]);
    } catch (error) {
      if (!FAULTY_VALUE.test((error as { code?: string }).code ?? '')) throw error;
      this.#log.error(
        { notification: result.delivery.id, reason: (error as Error).message },
        'a response could not be stored',
      );
      await flushResults(this.#pool, worker, days, [
        { ...result, outcome: { ...result.outcome, headers: null, body: null } },
      ]);
    }
  }
}

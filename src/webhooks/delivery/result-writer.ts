import type { Pool } from '../../database/database.ts';
import { endsWithin } from '../../process/deadline.ts';
import type { Logger } from '../../process/log.ts';
import type { Clock } from '../../values/calendar.ts';
import { codeOf, messageOf } from '../../values/unknown.ts';
import { type DayWindow, inWindow, windowAround } from '../day-window.ts';
import { type AttemptResult, writeResults } from './attempt.ts';
import type { Delivery } from './delivery.ts';

/** Milliseconds that results wait for others, the most results in one statement, and milliseconds to wait after a failed statement. */
const FLUSH_AFTER_MS = 5;
const MAX_BATCH = 500;
const RETRY_AFTER_MS = 200;
/** Milliseconds for the last results when the service stops. */
const STOP_TIMEOUT_MS = 1_500;

/** Classes of SQLSTATE that blame a value rather than the database: 22 data exception, 23 constraint. */
const FAULTY_VALUE = /^2[23]/;

/** Collects results and writes them in batches. It keeps them while the database is away. */
export class ResultWriter {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Deliveries whose attempt has begun and whose result is not written yet. */
  readonly #unwritten = new Map<string, Delivery>();
  #waiting: AttemptResult[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #failing = false;
  #stopped = false;

  constructor(pool: Pool, clock: Clock, log: Logger) {
    this.#pool = pool;
    this.#clock = clock;
    this.#log = log;
  }

  began(delivery: Delivery): void {
    this.#unwritten.set(delivery.id, delivery);
  }

  /** The stop of the service has interrupted the attempt. The worker gives the lease back with its others. */
  abandoned(delivery: Delivery): void {
    this.#unwritten.delete(delivery.id);
  }

  add(result: AttemptResult): void {
    this.#waiting.push(result);
    if (this.#writing) return;
    if (this.#waiting.length >= MAX_BATCH) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), FLUSH_AFTER_MS);
  }

  /** Ids of the deliveries whose leases are needed until their results are written. */
  unwritten(): string[] {
    return [...this.#unwritten.keys()];
  }

  /** Writes the remaining results, for at most 1.5 s. */
  async stop(): Promise<void> {
    const limit = AbortSignal.timeout(STOP_TIMEOUT_MS);
    while ((this.#waiting.length > 0 || this.#writing) && !limit.aborted) {
      this.#write();
      if (this.#writing) await endsWithin(this.#writing, RETRY_AFTER_MS);
    }
    clearTimeout(this.#timer);
    this.#stopped = true;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, MAX_BATCH);
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
        if (!this.#stopped) this.#timer = setTimeout(() => this.#write(), RETRY_AFTER_MS);
      },
    );
  }

  #ended(batch: readonly AttemptResult[]): void {
    // Under another id, the delivery may have been leased and attempted once more.
    for (const { delivery } of batch)
      if (this.#unwritten.get(delivery.id) === delivery) this.#unwritten.delete(delivery.id);
    this.#writing = undefined;
    if (this.#stopped) return;
    if (this.#waiting.length >= MAX_BATCH) this.#write();
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#write(), FLUSH_AFTER_MS);
  }

  async #writeBatch(batch: readonly AttemptResult[]): Promise<void> {
    const window = windowAround(this.#clock.now());
    // There is nearly always one group. A worker changes its id only after it was taken for dead, and few results are older than a week
    // (negative keys).
    const groups = Map.groupBy(batch, ({ worker, delivery }) =>
      inWindow(window, delivery.createdAt) ? worker : -worker,
    );
    for (const group of groups.values()) {
      const [one] = group;
      if (!one) continue;
      const { worker, delivery } = one;
      const days = inWindow(window, delivery.createdAt) ? window : undefined;
      try {
        await writeResults(this.#pool, { worker, window: days, results: group });
      } catch (error) {
        if (!FAULTY_VALUE.test(codeOf(error) ?? '')) throw error;
        for (const result of group) await this.#writeAlone(days, result);
      }
    }
  }

  /** Writes one result of a batch that was refused because of a value. If the value is in this result, the response is left out. */
  async #writeAlone(window: DayWindow | undefined, result: AttemptResult): Promise<void> {
    const { worker } = result;
    try {
      await writeResults(this.#pool, { worker, window, results: [result] });
    } catch (error) {
      if (!FAULTY_VALUE.test(codeOf(error) ?? '')) throw error;
      this.#log.error({ notification: result.delivery.id, reason: messageOf(error) }, 'a response could not be stored');
      const outcome = { ...result.outcome, headers: null, body: null };
      await writeResults(this.#pool, { worker, window, results: [{ ...result, outcome }] });
    }
  }
}

/** Processor time of the service and of PostgreSQL, apart. */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { processorSeconds } from '../feed/processor-time.ts';

const IDLE_MS = 4_000;
const LOOK_EVERY_MS = 250;
/** Background work still to do for changes that were already answered. */
const LEFT = `select (select count(*) from webhook_outbox) + (select count(*) from webhook_queue where attempts = 0)
  + (select count(*) from changes_unpublished) + (select count(*) from payment_total_deltas)
  + (select count(*) from approver_refreshes) as left`;

/** Microseconds per operation. */
export interface Cost {
  service: number;
  database: number;
}

/** Measures operations of a service, and subtracts what the service and the database do when idle. */
export class Meter {
  readonly #db: pg.Client;
  readonly #server: () => number;
  #idle = { service: new Map<number, number>(), database: 0 };

  private constructor(db: pg.Client, server: () => number) {
    this.#db = db;
    this.#server = server;
  }

  /**
   * @param pids of the processes that will be measured
   * @param server the processor time of PostgreSQL in seconds
   * @param idleMs how long they are observed while idle
   */
  static async create(db: pg.Client, pids: number[], server: () => number, idleMs = IDLE_MS): Promise<Meter> {
    const meter = new Meter(db, server);
    await meter.settle();
    const before = [...pids.map(processorSeconds), meter.#server()];
    const began = performance.now();
    await pause(idleMs);
    const after = [...pids.map(processorSeconds), meter.#server()];
    const seconds = (performance.now() - began) / 1_000;
    const rates = after.map((value, index) => (value - (before[index] as number)) / seconds);
    meter.#idle = {
      service: new Map(pids.map((pid, index) => [pid, rates[index] as number])),
      database: rates.at(-1) as number,
    };
    return meter;
  }

  /** @param work does `count` operations in the process `pid`; the background work that they cause is included */
  async measure(pid: number, count: number, work: () => Promise<void>): Promise<Cost> {
    await this.settle();
    const began = performance.now();
    const [service, database] = [processorSeconds(pid), this.#server()];
    await work();
    await this.settle();
    const seconds = (performance.now() - began) / 1_000;
    const each = (spent: number, idle: number) => ((spent - idle * seconds) * 1e6) / count;
    return {
      service: each(processorSeconds(pid) - service, this.#idle.service.get(pid) ?? 0),
      database: each(this.#server() - database, this.#idle.database),
    };
  }

  /** Waits until no background work is left. */
  async settle(): Promise<void> {
    while ((await this.#db.query(LEFT)).rows[0]?.left !== '0') await pause(LOOK_EVERY_MS);
  }
}

import type { Context } from '../context.ts';
import { inTurn } from '../database/cells/activity.ts';
import { createRounds } from '../database/cells/contexts.ts';
import { hasSeveralCells } from '../database/cells/pool.ts';
import { connect, type Pool, type Transaction, transaction, urlOf } from '../database/database.ts';
import { createPool } from '../database/pools.ts';
import type { Drawing } from '../documents/document.ts';
import { endsWithin } from '../process/deadline.ts';
import { Periodic } from '../process/periodic.ts';
import { monotonic } from '../values/calendar.ts';
import { DeliveryWork } from './delivery.ts';
import { beginAttempt, type Channel, dueDeliveries, lockDelivery, unlockDelivery } from './queue.ts';

/** Milliseconds between two queries for due deliveries. */
const POLL_INTERVAL_MS = 200;
/**
 * Milliseconds after connecting during which nothing is taken over. When the database did not answer, every process lost its locks.
 * Processes that still run get this time to take theirs again.
 */
const TAKE_OVER_AFTER_MS = 2_000;
/** Milliseconds that deliveries in flight get to end when the service stops. */
const STOP_LIMIT_MS = 8_500;
/** Milliseconds to record those that were then interrupted. */
const RECORD_LIMIT_MS = 1_000;
/** Deliveries in flight at once in one process. Mails share the mail server; pushes go to receivers that may hang. */
const MAX_IN_FLIGHT: Record<Channel, number> = { email: 4, push: 8, file: 4 };

/** The context of a cell, with its delivery work. */
type Cell = Context & { work: DeliveryWork };

/**
 * Makes and delivers statements in the background, in any number of processes. An advisory lock of one connection holds each delivery. It
 * is released as soon as its process has ended, and never while the process lives (docs/decisions.md, 5).
 */
export class StatementWorker {
  readonly #pool: Pool;
  readonly #cells: readonly Cell[];
  readonly #inEach: ReturnType<typeof createRounds<Cell>>;
  readonly #polling: Periodic;
  readonly #inFlight = new Map<number, { channel: Channel; clientId: string; done: Promise<void> }>();
  /** Deliveries that have ended. Their locks are released before others are taken. */
  #ended: number[] = [];
  #locks: Transaction | undefined;
  #connected = 0;
  /** Index of the cell that came first last time. */
  #first = 0;
  #stopping = false;

  /** @param cells the context of each cell */
  constructor(context: Context, drawing: Drawing, cells: readonly Context[]) {
    const { backgroundPool, log } = context;
    this.#pool = createPool(urlOf(backgroundPool), log, { max: 1, background: true, name: 'lombard-statements' });
    this.#cells = cells.map((cell) => ({ ...cell, work: new DeliveryWork(cell, drawing) }));
    this.#inEach = createRounds(this.#cells);
    const run = () => this.#beginDue();
    this.#polling = new Periodic({ name: 'statements', intervalMs: POLL_INTERVAL_MS, log, run });
  }

  start(): void {
    this.#polling.start();
  }

  /** Deliveries were requested. */
  wake(): void {
    this.#polling.wake();
  }

  /** Begins nothing new, and lets deliveries in flight run for up to 9 s. Another process begins the rest again. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#polling.stop();
    await this.#settle(STOP_LIMIT_MS);
    await Promise.all(this.#cells.map(({ work }) => work.close()));
    await this.#settle(RECORD_LIMIT_MS);
    this.#locks?.release(true);
    this.#locks = undefined;
    await this.#pool.end();
  }

  /** Waits for the deliveries in flight, for at most `limitMs`. */
  async #settle(limitMs: number): Promise<void> {
    await endsWithin(Promise.all([...this.#inFlight.values()].map(({ done }) => done)), limitMs);
  }

  async #beginDue(): Promise<void> {
    const locks = (this.#locks ??= await this.#connect());
    for (let id = this.#ended.shift(); id !== undefined; id = this.#ended.shift()) await unlockDelivery(locks, id);
    // A different cell comes first each time, because all cells share the slots.
    this.#first = (this.#first + 1) % this.#cells.length;
    const inOrder = [...this.#cells.slice(this.#first), ...this.#cells.slice(0, this.#first)];
    const begin = inTurn<Cell>(this, (cell) => this.#beginIn(cell, locks));
    await this.#inEach(inOrder, begin);
  }

  async #beginIn(cell: Cell, locks: Transaction): Promise<void> {
    const abandoned = monotonic() - this.#connected > TAKE_OVER_AFTER_MS;
    const now = cell.clock.now();
    // The connection with the locks keeps its plans, but belongs to no cell if there are several.
    const db = hasSeveralCells(cell.backgroundPool) ? cell.backgroundPool : locks;
    for (const channel of ['email', 'push', 'file'] as const) {
      const inFlight = [...this.#inFlight.values()].filter((each) => each.channel === channel);
      let slots = MAX_IN_FLIGHT[channel] - inFlight.length;
      const busy = inFlight.map((each) => each.clientId);
      const due = slots > 0 ? await dueDeliveries(db, { channel, busy, slots, now, abandoned }) : [];
      for (const id of due) {
        if (slots === 0 || this.#stopping) break;
        if (!this.#inFlight.has(id) && (await this.#begin(locks, id, { cell, channel, abandoned }))) slots -= 1;
      }
      if (slots <= 0) cell.rhythm?.againFor(this);
    }
  }

  async #begin(
    locks: Transaction,
    id: number,
    { cell, channel, abandoned }: { cell: Cell; channel: Channel; abandoned: boolean },
  ): Promise<boolean> {
    if (!(await lockDelivery(locks, id))) return false;
    const now = cell.clock.now();
    const delivery = await transaction(cell.backgroundPool, (tx) => beginAttempt(tx, id, { now, abandoned }));
    if (!delivery) {
      await unlockDelivery(locks, id);
      return false;
    }
    const attempt = cell.work.run(delivery).finally(() => {
      this.#inFlight.delete(id);
      // If the connection has changed, the lock was lost with the old one.
      if (this.#locks === locks) this.#ended.push(id);
      // The client's next delivery may have waited for this one.
      this.#lookInto(cell);
    });
    const done = attempt.then((due) => {
      if (due && cell.rhythm)
        setTimeout(() => this.#lookInto(cell), due.getTime() - cell.clock.now().getTime()).unref();
    });
    this.#inFlight.set(id, { channel, clientId: delivery.client_id, done });
    return true;
  }

  /** Checks a cell for due deliveries at the next run, which comes at once. */
  #lookInto({ rhythm }: Context): void {
    rhythm?.againFor(this);
    this.#polling.wake();
  }

  /** The connection that holds the locks. A new connection first takes the locks of deliveries in flight again. */
  async #connect(): Promise<Transaction> {
    const locks = await connect(this.#pool);
    locks.on('error', () => {
      if (this.#locks !== locks) return;
      this.#locks = undefined;
      this.#ended = [];
      locks.release(true);
    });
    try {
      for (const id of this.#inFlight.keys()) await lockDelivery(locks, id);
    } catch (error) {
      locks.release(true);
      throw error;
    }
    this.#connected = monotonic();
    return locks;
  }
}

import { monotonic } from '../calendar.ts';
import type { Context } from '../context.ts';
import { createPool, type Pool, type Transaction } from '../database.ts';
import { endsWithin } from '../deadline.ts';
import type { Drawing } from '../documents/drawing.ts';
import { Periodic } from '../periodic.ts';
import { DeliveryWork } from './delivery.ts';
import { beginAttempt, type Channel, dueDeliveries, lockDelivery, unlockDelivery } from './queue.ts';

/** Milliseconds between two looks at what is due. */
const LOOK_INTERVAL = 200;
/**
 * Milliseconds after connecting during which nothing is taken over: when the database was away, every process has lost its
 * locks, and those that live take theirs again first.
 */
const TAKE_OVER_AFTER = 2_000;
/** Milliseconds that what is under way gets when the service stops. */
const STOP_WITHIN = 8_500;
/** Milliseconds for what is broken off then to be written down. */
const BREAK_OFF_WITHIN = 1_000;
/** Deliveries under way at once in one process: mails share the mail server, pushes go to receivers that may hang. */
const SLOTS: Record<Channel, number> = { email: 4, push: 8 };

/**
 * Makes and delivers statements in the background; any number of processes may. Each delivery is held by an advisory lock of
 * one connection, so that it is free again as soon as its process is dead, and never while it lives (docs/decisions.md, 5).
 */
export class StatementWorker {
  readonly #context: Context;
  readonly #pool: Pool;
  readonly #work: DeliveryWork;
  readonly #looking: Periodic;
  readonly #running = new Map<number, { channel: Channel; clientId: string; done: Promise<void> }>();
  /** What has ended: its locks are let go before anything else is taken. */
  #ended: number[] = [];
  #locks: Transaction | undefined;
  #connected = 0;
  #stopping = false;

  constructor(context: Context, drawing: Drawing) {
    this.#context = context;
    const url = context.backgroundPool.options.connectionString as string;
    this.#pool = createPool(url, context.log, { max: 1, background: true, name: 'lombard-statements' });
    this.#work = new DeliveryWork(context, drawing);
    this.#looking = new Periodic({
      name: 'statements',
      intervalMs: LOOK_INTERVAL,
      log: context.log,
      run: () => this.#takeWhatIsDue(),
    });
  }

  start(): void {
    this.#looking.start();
  }

  /** Begins nothing new, gives what is under way up to 9 s; the rest is begun again by whoever comes next. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#looking.stop();
    await this.#quiet(STOP_WITHIN);
    await this.#work.close();
    await this.#quiet(BREAK_OFF_WITHIN);
    this.#locks?.release(true);
    this.#locks = undefined;
    await this.#pool.end();
  }

  /** Waits for what is under way, at most so many milliseconds. */
  async #quiet(within: number): Promise<void> {
    await endsWithin(Promise.all([...this.#running.values()].map(({ done }) => done)), within);
  }

  async #takeWhatIsDue(): Promise<void> {
    const locks = (this.#locks ??= await this.#connect());
    for (let id = this.#ended.shift(); id !== undefined; id = this.#ended.shift()) await unlockDelivery(locks, id);
    const abandoned = monotonic() - this.#connected > TAKE_OVER_AFTER;
    const now = this.#context.clock.now();
    for (const channel of ['email', 'push'] as const) {
      const running = [...this.#running.values()].filter((each) => each.channel === channel);
      let slots = SLOTS[channel] - running.length;
      if (slots <= 0) continue;
      const busy = running.map((each) => each.clientId);
      for (const id of await dueDeliveries(locks, channel, busy, slots, now, abandoned)) {
        if (slots === 0 || this.#stopping) break;
        if (!this.#running.has(id) && (await this.#begin(locks, channel, id, abandoned))) slots -= 1;
      }
    }
  }

  async #begin(locks: Transaction, channel: Channel, id: number, abandoned: boolean): Promise<boolean> {
    if (!(await lockDelivery(locks, id))) return false;
    const delivery = await beginAttempt(locks, id, this.#context.clock.now(), abandoned);
    if (!delivery) {
      await unlockDelivery(locks, id);
      return false;
    }
    const done = this.#work.run(delivery).finally(() => {
      this.#running.delete(id);
      // Where the connection has broken the lock is gone with it.
      if (this.#locks === locks) this.#ended.push(id);
      this.#looking.wake();
    });
    this.#running.set(id, { channel, clientId: delivery.client_id, done });
    return true;
  }

  /** The connection that holds the locks. A new one takes the locks of what is under way again, before anything else is looked at. */
  async #connect(): Promise<Transaction> {
    const locks = await this.#pool.connect();
    locks.on('error', () => {
      if (this.#locks !== locks) return;
      this.#locks = undefined;
      this.#ended = [];
      locks.release(true);
    });
    for (const id of this.#running.keys()) await lockDelivery(locks, id);
    this.#connected = monotonic();
    return locks;
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { inTurn } from '../database/cells/activity.ts';
import { Periodic } from '../process/periodic.ts';
import { monotonic } from '../values/calendar.ts';
import { messageOf } from '../values/unknown.ts';
import { type Engine, openOrders, stepOrder } from './engine.ts';

/** Milliseconds between two looks for orders that wait for a time, for example until FX opens. Code that leaves work wakes the worker. */
const LOOK_INTERVAL_MS = 1_000;
/** The most orders of one kind in a cell that are worked on in turn. */
const MAX_OPEN_ORDERS = 20;
/** Milliseconds for which an order is processed gently while requests arrive. After that, it is processed at full speed. */
const GENTLE_MS = 12_000;
/** The rest after a gentle step: this share of the step's time, but at most MAX_REST_MS milliseconds. */
const REST_SHARE = 0.5;
const MAX_REST_MS = 20;

/**
 * Works on orders of many rows in the background, in any number of processes. Each step is a transaction that locks its order. Each cell has
 * a loop of its own, so a long file in one cell, or a server that does not answer, holds up no other cell.
 */
export class OrderWorker {
  readonly #engines: readonly Engine[];
  readonly #looking: readonly Periodic[];
  #stopping = false;

  /** @param cells the context of each cell */
  constructor(engines: readonly Engine[], cells: readonly Context[]) {
    this.#engines = engines;
    this.#looking = cells.map((cell) => {
      const turn = inTurn(this, (context: Context) => this.#workOff(context));
      return new Periodic({ name: 'orders', intervalMs: LOOK_INTERVAL_MS, log: cell.log, run: () => turn(cell) });
    });
  }

  start(): void {
    for (const looking of this.#looking) looking.start();
  }

  /** Called when an order was sent or confirmed. */
  wake(): void {
    for (const looking of this.#looking) looking.wake();
  }

  /** Waits for the current steps and stops. Another process continues with the orders. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#looking.map((looking) => looking.stop()));
  }

  /** Takes each open order of a cell step by step, in turn, until all of them wait. */
  async #workOff(context: Context): Promise<void> {
    const waiting: string[] = [];
    const began = new Map<string, number>();
    let failure: Error | undefined;
    const look = { most: MAX_OPEN_ORDERS, but: waiting };
    while (!this.#stopping) {
      const found = await Promise.all(
        this.#engines.map(async (engine) =>
          (await openOrders(engine, context.backgroundPool, look)).map((order) => ({ engine, order })),
        ),
      );
      if (found.flat().length === 0) break;
      for (const { engine, order } of found.flat()) {
        if (this.#stopping) return;
        const at = monotonic();
        if (!began.has(order.id)) began.set(order.id, at);
        const gently = context.traffic.busy && at - (began.get(order.id) ?? at) < GENTLE_MS;
        try {
          if ((await stepOrder(engine, context, order, gently)) === 'waits') waiting.push(order.id);
          else if (gently) await pause(Math.min((monotonic() - at) * REST_SHARE, MAX_REST_MS));
        } catch (error) {
          // The order is tried again at the next look, and delays no others until then.
          waiting.push(order.id);
          failure ??= new Error(`${engine.name} ${order.id}: ${messageOf(error)}`, { cause: error });
        }
      }
    }
    // Nothing announces that the time of a waiting order has come.
    if (waiting.length > 0) context.rhythm?.againFor(this);
    if (failure) throw failure;
  }
}

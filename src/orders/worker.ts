import type { Context } from '../context.ts';
import { Periodic } from '../process/periodic.ts';
import { messageOf } from '../values/unknown.ts';
import { type Engine, openOrders, stepOrder } from './engine.ts';

/** Milliseconds between two looks for orders that wait for a moment, as FX to open. Whoever leaves something to be done wakes the worker. */
const LOOK_INTERVAL_MS = 1_000;
/** Orders of one kind in a cell that are worked on in turn. */
const MAX_OPEN_ORDERS = 20;

/** Works on orders of many rows in the background, in any number of processes: each step is a transaction that holds its order. */
export class OrderWorker {
  readonly #engines: readonly Engine[];
  readonly #looking: Periodic;
  #stopping = false;

  /** @param cells the context of each cell */
  constructor(engines: readonly Engine[], { log }: Context, cells: readonly Context[]) {
    this.#engines = engines;
    this.#looking = new Periodic({
      name: 'orders',
      intervalMs: LOOK_INTERVAL_MS,
      log,
      run: async () => {
        const failures = (await Promise.allSettled(cells.map((cell) => this.#workOff(cell)))).flatMap((each) =>
          each.status === 'rejected' ? [each.reason] : [],
        );
        if (failures.length > 0) throw new Error(messageOf(failures[0]), { cause: failures[0] });
      },
    });
  }

  start(): void {
    this.#looking.start();
  }

  /** An order was sent or confirmed. */
  wake(): void {
    this.#looking.wake();
  }

  /** Ends with the step that is under way. Another process goes on. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#looking.stop();
  }

  /** Takes each open order of a cell step by step, in turn, until all wait. */
  async #workOff(context: Context): Promise<void> {
    const waiting = new Set<string>();
    while (!this.#stopping) {
      const found = await Promise.all(
        this.#engines.map(async (engine) =>
          (await openOrders(engine, context.backgroundPool, MAX_OPEN_ORDERS)).map((order) => ({ engine, order })),
        ),
      );
      const open = found.flat().filter(({ order }) => !waiting.has(order.id));
      if (open.length === 0) return;
      for (const { engine, order } of open) {
        if (this.#stopping) return;
        if ((await stepOrder(engine, context, order)) === 'waits') waiting.add(order.id);
      }
    }
  }
}

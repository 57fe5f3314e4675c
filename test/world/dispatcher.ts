import type { Context } from '../../src/context.ts';
import { CellActivity } from '../../src/database/cells/activity.ts';
import { readPaths } from '../../src/database/cells/cell.ts';
import { contextOf } from '../../src/database/cells/contexts.ts';
import { createCellLook } from '../../src/database/cells/look.ts';
import { pathsOf, poolOf } from '../../src/database/cells/pool.ts';
import type { Pool } from '../../src/database/database.ts';
import { createPool } from '../../src/database/pools.ts';
import type { Logger } from '../../src/process/log.ts';
import { Dispatcher, type DispatcherOptions } from '../../src/webhooks/delivery/dispatcher.ts';

/** The pools of a test that makes its clients past the service. */
export interface OwnPools {
  /** As the service has it; the one to end. */
  whole: Pool;
  /** Of the cell that has the clients: the last one. The same as the other where the database has one cell. */
  pool: Pool;
  cell: number;
  /** Whoever works on the cell hears that something was written there; nothing where the database has one. */
  announce(): void;
}

/** Opens a pool that knows the cells of its database. */
export async function openPools(
  url: string,
  log: Logger,
  options: Parameters<typeof createPool>[2] = {},
): Promise<OwnPools> {
  const plain = createPool(url, log, { max: 1 });
  const cells = await readPaths(plain).finally(() => plain.end());
  const whole = createPool(url, log, { ...options, cells });
  const cell = cells?.numbers.at(-1) ?? 0;
  const activity = cells && new CellActivity(whole, log);
  return { whole, pool: poolOf(whole, cell), cell, announce: () => activity?.wrote([cell]) };
}

/** Starts the delivery engine on all cells, and what looks after those where nothing happens, as `src/workers.ts` does. */
export function startDispatcher(
  context: Context,
  options: DispatcherOptions = {},
): { dispatcher: Dispatcher; stop(): Promise<void> } {
  const paths = pathsOf(context.pool);
  if (!paths) {
    const dispatcher = new Dispatcher(context, options);
    dispatcher.start();
    return { dispatcher, stop: () => dispatcher.stop() };
  }
  const activity = new CellActivity(context.pool, context.log);
  const everywhere = { ...contextOf(context, 'none'), activity };
  const cells = paths.numbers.map((cell) => ({ ...contextOf(everywhere, cell), rhythm: activity.rhythm(cell) }));
  const dispatcher = new Dispatcher(everywhere, options, cells);
  const look = createCellLook(everywhere, cells);
  dispatcher.start();
  look.start();
  activity.listen((numbers) => dispatcher.wake(numbers));
  return { dispatcher, stop: async () => void (await Promise.all([dispatcher.stop(), look.stop()])) };
}

import type { Context } from '../../src/context.ts';
import { Activity } from '../../src/database/cells/activity.ts';
import { readPaths } from '../../src/database/cells/cell.ts';
import { contextOf } from '../../src/database/cells/contexts.ts';
import { createCellLook } from '../../src/database/cells/look.ts';
import { pathsOf, poolOf } from '../../src/database/cells/pool.ts';
import { type Pool, urlOf, WORK } from '../../src/database/database.ts';
import { Hearing } from '../../src/database/hearing.ts';
import { createPool } from '../../src/database/pools.ts';
import type { Logger } from '../../src/process/log.ts';
import { Dispatcher, type DispatcherOptions } from '../../src/webhooks/delivery/dispatcher.ts';

/** The pools of a test that creates its clients behind the service's back. */
export interface OwnPools {
  /** The pool that the service uses, and the one to end. */
  whole: Pool;
  /** The pool of the last cell, which has the clients. If there is only one cell, it is the same as `whole`. */
  pool: Pool;
  cell: number;
  /** Tells the workers of the cell that something was written there. */
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
  const activity = new Activity(whole, log);
  return { whole, pool: poolOf(whole, cell), cell, announce: () => activity.wrote([cell], new Set(WORK)) };
}

/** Starts the delivery engine on all cells, and the checks of idle cells, like `src/workers.ts`. */
export function startDispatcher(
  context: Omit<Context, 'activity' | 'hearing'>,
  options: DispatcherOptions = {},
): { dispatcher: Dispatcher; stop(): Promise<void> } {
  const activity = new Activity(context.pool, context.log);
  const hearing = new Hearing(urlOf(context.backgroundPool));
  const everywhere = contextOf({ ...context, activity, hearing }, 'none');
  const numbers = pathsOf(context.pool)?.numbers ?? [0];
  const cells = numbers.map((cell) => ({ ...contextOf(everywhere, cell), rhythm: activity.rhythm(cell) }));
  const dispatcher = new Dispatcher(everywhere, options, cells);
  const look = createCellLook(everywhere, cells);
  dispatcher.start();
  look.start();
  activity.listen(dispatcher);
  return { dispatcher, stop: async () => void (await Promise.all([dispatcher.stop(), look.stop()])) };
}

import type { Logger } from '../../process/log.ts';
import { Periodic } from '../../process/periodic.ts';
import { type Db, first, type Pool } from '../database.ts';
import { readServers } from './cell.ts';
import { cellNumbers } from './directory.ts';
import { pathsOf } from './pool.ts';

/** Milliseconds between two checks for new cells. `lombard migrate` adds some, but seldom. */
const LOOK_INTERVAL_MS = 5_000;

/**
 * Notices cells that are added while a process with several cells runs. Requests find new cells by themselves; background work has to be
 * started there.
 * @param onMore called when there are more cells
 */
export function createCellGrowth({ pool, log }: { pool: Pool; log: Logger }, onMore: () => Promise<void>): Periodic {
  const paths = pathsOf(pool);
  const numbers = paths?.numbers ?? [];
  let known = numbers.length;
  return new Periodic({
    name: 'added cells',
    intervalMs: LOOK_INTERVAL_MS,
    log,
    run: async () => {
      if (paths?.distributed) paths.servers = await readServers(pool);
      const now = await cellNumbers(pool);
      if (now.length <= known) return;
      // The connections of all pools share this list.
      numbers.splice(0, numbers.length, ...now);
      log.info({ cells: now.length }, 'cells were added');
      await onMore();
      known = now.length;
    },
  });
}

/** Why a process that knows one cell cannot go on; undefined if the database still has one cell. */
export async function unknownCellsFault(db: Db): Promise<string | undefined> {
  const found = await db.query<{ several: boolean }>(
    'select exists (select from cells where made and number > 0) as several',
  );
  return first(found)?.several
    ? 'the database has several cells now, and this process was started when it had one: start it again'
    : undefined;
}

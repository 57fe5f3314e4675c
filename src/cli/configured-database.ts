import { readPaths } from '../cells/cell.ts';
import type { CellPaths } from '../cells/connection.ts';
import type { Config } from '../config.ts';
import { createPool, type Pool } from '../database.ts';
import { createLog } from '../log.ts';
import { databaseAddresses } from '../open-database.ts';
import { schemaFault } from '../schema.ts';
import { CommandFailure } from './failure.ts';
import { embeddedUrl } from './operator-tokens.ts';

/**
 * Opens the database of the service for a command that runs at the same time: DATABASE_URL, or the embedded server of the data directory while that runs.
 * @param options `as`: the owner of the database, for what the service may not do
 * @throws CommandFailure where there is none, or its schema does not fit this program
 */
export async function withDatabase<T>(
  config: Config,
  name: string,
  work: (pool: Pool) => Promise<T>,
  { as = 'sessions', connections = 1 }: { as?: 'sessions' | 'owner'; connections?: number } = {},
): Promise<T> {
  const url = databaseAddresses(config, config.databaseUrl ?? embeddedUrl(config.dataDir))[as];
  const open = (cells?: CellPaths) =>
    createPool(url, createLog('silent', false), { max: connections, background: true, name, cells });
  let pool = open();
  try {
    const fault = await schemaFault(pool);
    if (fault) throw new CommandFailure(fault);
    const cells = await readPaths(pool);
    if (cells) {
      await pool.end();
      pool = open(cells);
    }
    return await work(pool);
  } finally {
    await pool.end();
  }
}

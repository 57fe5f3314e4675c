import { readPaths } from '../database/cells/cell.ts';
import type { CellPaths } from '../database/cells/connection.ts';
import type { Pool } from '../database/database.ts';
import { databaseAddresses } from '../database/open.ts';
import { createPool } from '../database/pools.ts';
import { schemaFault } from '../database/schema.ts';
import { lockHolder } from '../embedded/lock.ts';
import { startEmbedded } from '../embedded/postgres.ts';
import { createLog } from '../process/log.ts';
import type { Config } from '../settings/config.ts';
import { embeddedUrl } from '../settings/data-directory.ts';
import { errorOf } from '../values/unknown.ts';
import { CommandFailure } from './failure.ts';
import { startFault } from './start-fault.ts';

/**
 * Gives a command the address of the service's database: DATABASE_URL, or the embedded one. If no service runs on the data directory, its
 * server is started for the command and stopped afterwards.
 * @throws CommandFailure if there is no database, StartupError if the embedded one cannot be started
 */
export async function withDatabaseUrl<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const { dataDir } = config;
  const known = config.databaseUrl ?? embeddedUrl(dataDir);
  if (known === undefined)
    throw new CommandFailure(`set DATABASE_URL; ${dataDir} does not contain an embedded database`);
  try {
    if (config.databaseUrl !== undefined || lockHolder(dataDir) !== undefined) return await work(known);
    const server = await startEmbedded({ dataDir, log: createLog('silent', false) });
    return await work(server.socketUrl).finally(() => server.stop());
  } catch (error) {
    throw startFault(config, errorOf(error));
  }
}

/**
 * Opens the database of the service for a command, like `withDatabaseUrl`. The service may run at the same time.
 * @param options `as`: the owner of the database, for what the service's role may not do
 * @throws CommandFailure if there is none, or its schema does not fit this program
 */
export async function withDatabase<T>(
  config: Config,
  name: string,
  work: (pool: Pool) => Promise<T>,
  { as = 'sessions', connections = 1 }: { as?: 'sessions' | 'owner'; connections?: number } = {},
): Promise<T> {
  return withDatabaseUrl(config, (url) => inPool(databaseAddresses(config, url)[as], name, work, connections));
}

async function inPool<T>(url: string, name: string, work: (pool: Pool) => Promise<T>, connections: number): Promise<T> {
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

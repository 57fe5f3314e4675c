import type { Logger } from '../process/log.ts';
import type { Config } from '../settings/config.ts';
import { readHosts } from '../settings/database-hosts.ts';
import { StartupError } from '../values/errors.ts';
import { readPaths } from './cells/cell.ts';
import type { CellPaths } from './cells/connection.ts';
import { type MigrateOptions, migrate } from './migrate.ts';
import { refusePooler } from './pooler.ts';
import { createPool } from './pools.ts';
import { schemaFault } from './schema.ts';

/** The addresses of one database. */
export interface DatabaseAddresses {
  /** For requests. It may lead through a pooler in transaction mode. */
  requests: string;
  /** For LISTEN, advisory locks and background work. It leads to the server itself. */
  sessions: string;
  /** The owner's address, for migrations. */
  owner: string;
}

/** @param url of the embedded server, used if there is no DATABASE_URL */
export function databaseAddresses(config: Config, url: string): DatabaseAddresses {
  const sessions = config.sessionDatabaseUrl ?? url;
  return { requests: url, sessions, owner: config.migrateDatabaseUrl ?? sessions };
}

/** Whether requests prepare their statements by name. A pooler in transaction mode may not keep them. */
export function usesNames(config: Config): boolean {
  return config.sessionDatabaseUrl === undefined;
}

/** Options that give the user of DATABASE_URL the rights of the service when a different owner migrates. */
export function migrateOptions({ cells }: Config, { requests, sessions }: DatabaseAddresses): MigrateOptions {
  const { username, password } = firstHost(requests);
  const user = decodeURIComponent(username || firstHost(sessions).username);
  return user === '' ? { cells } : { cells, service: { user, password: decodeURIComponent(password) || undefined } };
}

/** All hosts of a connection string have the same user, so the first one is enough. */
function firstHost(url: string): URL {
  return new URL(readHosts(url).addresses[0]);
}

/**
 * Makes sure that the database can be used: no session goes through a pooler in transaction mode, and the schema fits this program. A start
 * migrates unless LOMBARD_MIGRATE=no.
 * @returns how connections belong to cells; undefined if there is one cell
 * @throws StartupError
 */
export async function openDatabase(
  config: Config,
  addresses: DatabaseAddresses,
  log: Logger,
): Promise<CellPaths | undefined> {
  const given = config.sessionDatabaseUrl !== undefined;
  if (addresses.owner !== addresses.sessions) await refusePooler(addresses.owner, 'LOMBARD_MIGRATE_DATABASE_URL');
  await refusePooler(addresses.sessions, given ? 'LOMBARD_SESSION_DATABASE_URL' : 'DATABASE_URL');
  if (config.migrate) await migrate(addresses.owner, log, migrateOptions(config, addresses));
  const pool = createPool(addresses.requests, log, { max: 1, name: 'lombard-start', names: usesNames(config) });
  try {
    const fault = await schemaFault(pool);
    if (fault) throw new StartupError(fault);
    return await readPaths(pool);
  } finally {
    await pool.end();
  }
}

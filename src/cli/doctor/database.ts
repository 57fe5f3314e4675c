import { readPaths } from '../../database/cells/cell.ts';
import type { CellPaths } from '../../database/cells/connection.ts';
import { type Db, one, type Pool } from '../../database/database.ts';
import { databaseFault, refusesLogin } from '../../database/fault.ts';
import { whatIsMissing } from '../../database/migrate.ts';
import { type DatabaseAddresses, migrateOptions } from '../../database/open.ts';
import { refusePooler } from '../../database/pooler.ts';
import { createPool } from '../../database/pools.ts';
import { schemaFault } from '../../database/schema.ts';
import { createLog } from '../../process/log.ts';
import type { Config } from '../../settings/config.ts';
import { errorOf, messageOf } from '../../values/unknown.ts';
import { count, type Finding, failed, ok, warnIf, warning } from './finding.ts';

const ANSWER_TIMEOUT_MS = 10_000;
const MIN_SERVER_MAJOR = 15;
/**
 * The connections that a process has besides its pools: for locks, LISTEN, the watch and the delivery engine. If there are several cells,
 * the engine has more, and some connections ask whether cells answer. On Citus each of four pools has two more (docs/scale.md,
 * Connections).
 */
const OWN_CONNECTIONS = 10;
const OWN_CONNECTIONS_OF_CELLS = 16;
const OWN_CONNECTIONS_ON_CITUS = 8;
/** The largest acceptable difference between this machine's clock and the database's, in seconds. */
const MAX_CLOCK_SECONDS = 5;
const WRONG_CLOCK_SECONDS = 60;
/** Local hosts. A unix socket is given by the encoded path of its directory. */
const LOCAL = /^(localhost|127\.[0-9.]+|::1||%2f.*)$/i;

/** Opens the database for the checks. The caller ends the pool. @param cells set if the database has several */
export function openForChecks({ sessions }: DatabaseAddresses, cells?: CellPaths): Pool {
  return createPool(sessions, createLog('silent', false), {
    max: 1,
    answerWithin: ANSWER_TIMEOUT_MS,
    name: 'lombard-doctor',
    cells,
  });
}

/** Why the database cannot be used at all; undefined if it answers. `refused`: a server is there, but refuses the login. */
export async function unusable(
  pool: Pool,
  { sessionDatabaseUrl }: Config,
): Promise<{ finding: Finding; refused: boolean } | undefined> {
  const variable = sessionDatabaseUrl === undefined ? 'DATABASE_URL' : 'LOMBARD_SESSION_DATABASE_URL';
  try {
    await pool.query('select');
    return undefined;
  } catch (error) {
    const why = messageOf(error) || databaseFault(error);
    const refused = refusesLogin(error);
    const message = refused
      ? `the server answers, and refuses the login (${why}): check user, password and database in ${variable}`
      : `cannot be reached (${why}): check ${variable}, the server, and the firewall between`;
    return { finding: failed('database', message), refused };
  }
}

/** The server and its settings, the schema, the rights, and the clock. */
export async function checkDatabase(
  db: Db,
  config: Config,
  addresses: DatabaseAddresses,
  now: () => Date,
): Promise<Finding[]> {
  const server = await readServer(db);
  // Nothing is known about a database without a schema.
  const cells = await readPaths(db).catch(() => undefined);
  const findings = checkServer(server, config, { ...addresses, cells });
  if (server.major < MIN_SERVER_MAJOR) return findings;
  return [
    ...findings,
    await checkClock(db, now),
    ...(await checkPoolers(config, addresses)),
    ...(await checkSchema(db, config, addresses)),
  ];
}

/** The server's report about itself and this connection. */
export interface Server {
  major: number;
  encoding: string;
  read_only: boolean;
  durable: boolean;
  synchronous_commit: string;
  max_connections: number;
  statement_timeout: string;
  encrypted: boolean;
}

async function readServer(db: Db): Promise<Server> {
  return one(
    await db.query<Server>(`select current_setting('server_version_num')::int / 10000 as major,
      current_setting('server_encoding') as encoding,
      pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only,
      current_setting('fsync')::boolean and current_setting('full_page_writes')::boolean as durable,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max_connections,
      current_setting('statement_timeout') as statement_timeout,
      coalesce((select s.ssl from pg_stat_ssl s where s.pid = pg_backend_pid()), false) as encrypted`),
  );
}

/** Judges a server. */
export function checkServer(
  server: Server,
  config: Pick<Config, 'environment' | 'poolSize' | 'authPoolSize' | 'backgroundPoolSize' | 'workers'>,
  { sessions, cells }: Pick<DatabaseAddresses, 'sessions'> & { cells?: Pick<CellPaths, 'distributed'> | undefined },
): Finding[] {
  if (server.major < MIN_SERVER_MAJOR)
    return [failed('database', `PostgreSQL ${server.major} runs; ${MIN_SERVER_MAJOR} or newer is needed: upgrade it`)];
  const serious = config.environment === 'production' ? failed : warning;
  const own =
    OWN_CONNECTIONS + (cells ? OWN_CONNECTIONS_OF_CELLS : 0) + (cells?.distributed ? OWN_CONNECTIONS_ON_CITUS : 0);
  const wanted = (config.poolSize + config.authPoolSize + config.backgroundPoolSize + own) * config.workers;
  const remote = !LOCAL.test(new URL(sessions).hostname);
  return [
    ok('database', `PostgreSQL ${server.major} answers`),
    server.read_only
      ? failed('writing', 'the database is read-only, or a standby: name the primary in DATABASE_URL')
      : ok('writing', 'the database takes writes'),
    server.encoding === 'UTF8'
      ? ok('encoding', 'UTF8')
      : failed('encoding', `the database's is ${server.encoding}: make it again with encoding UTF8`),
    durability(server, serious),
    warnIf(wanted > server.max_connections, 'connections', {
      warns:
        `${config.workers === 1 ? 'a process' : `${config.workers} processes`} may want ${wanted}, and the server gives ${server.max_connections}: ` +
        'raise max_connections, or lower LOMBARD_POOL, LOMBARD_AUTH_POOL and LOMBARD_BACKGROUND_POOL',
      fine: `up to ${wanted} of the ${server.max_connections} that the server gives`,
    }),
    warnIf(server.statement_timeout !== '0', 'statement timeout', {
      warns: `it is ${server.statement_timeout} for this role, which ends imports and migrations: alter role ... reset statement_timeout`,
      fine: 'none; the service has limits of its own',
    }),
    warnIf(remote && !server.encrypted, 'database encryption', {
      warns: 'the connection to another machine is not encrypted: add ?sslmode=verify-full to DATABASE_URL',
      fine: remote ? 'the connection uses TLS' : 'the server is on this machine',
    }),
  ];
}

/** Whether a crash of the server spares what was answered. @param serious how bad it is if not */
function durability({ durable, synchronous_commit: commit }: Server, serious: typeof failed): Finding {
  const fault = (message: string) => serious('durability', message);
  if (!durable) return fault('fsync or full_page_writes is off, so a crash can destroy the database: switch both on');
  if (commit !== 'off') return ok('durability', 'a crash loses no commit');
  return fault(
    'synchronous_commit is off for this role, so a crash can lose changes that were answered: alter role ... set synchronous_commit = on',
  );
}

async function checkClock(db: Db, now: () => Date): Promise<Finding> {
  const before = now().getTime();
  const { at } = one(await db.query<{ at: Date }>('select clock_timestamp() as at'));
  const middle = (before + now().getTime()) / 2;
  const seconds = Math.round((middle - at.getTime()) / 1_000);
  const away = Math.abs(seconds);
  if (away <= MAX_CLOCK_SECONDS) return ok('clock', "agrees with the database's");
  const message = `this machine is ${count(away, 'second')} ${seconds > 0 ? 'ahead of' : 'behind'} the database: run a time service (NTP) on both`;
  return away > WRONG_CLOCK_SECONDS ? failed('clock', message) : warning('clock', message);
}

async function checkPoolers(config: Config, addresses: DatabaseAddresses): Promise<Finding[]> {
  const given = config.sessionDatabaseUrl === undefined ? 'DATABASE_URL' : 'LOMBARD_SESSION_DATABASE_URL';
  try {
    await refusePooler(addresses.sessions, given);
    if (addresses.owner !== addresses.sessions) await refusePooler(addresses.owner, 'LOMBARD_MIGRATE_DATABASE_URL');
    if (addresses.requests !== addresses.sessions) await answers(addresses.requests);
    return [ok('pooler', 'none in transaction mode is in the way of sessions')];
  } catch (error) {
    return [failed('pooler', messageOf(error))];
  }
}

/** @throws Error if the address for requests, which may be a pooler's, does not lead to a database */
async function answers(url: string): Promise<void> {
  const pool = createPool(url, createLog('silent', false), { max: 1, answerWithin: ANSWER_TIMEOUT_MS, names: false });
  try {
    await pool.query('select');
  } catch (error) {
    const why = messageOf(error) || databaseFault(error);
    throw new Error(`DATABASE_URL does not lead to the database (${why}): check the pooler`, { cause: error });
  } finally {
    await pool.end();
  }
}

/** What `lombard migrate` would do: migrations, settings of the plans, rights of the service's role. */
async function checkSchema(db: Db, config: Config, addresses: DatabaseAddresses): Promise<Finding[]> {
  const fault = await schemaFault(db);
  let names: string[];
  try {
    names = (await whatIsMissing(addresses.owner, migrateOptions(config, addresses))).names;
  } catch (error) {
    const { message, cause } = errorOf(error);
    if (config.migrateDatabaseUrl === undefined || !cause) return [failed('schema', message)];
    return [failed('schema', `cannot be compared (${messageOf(cause)}): check LOMBARD_MIGRATE_DATABASE_URL`)];
  }
  // A start migrates unless it is told not to.
  const judge = config.migrate ? warning : failed;
  const then = config.migrate
    ? 'the next start applies it, or lombard migrate'
    : 'run lombard migrate, because LOMBARD_MIGRATE is no';
  const kinds = {
    schema: names.filter((name) => /^\d{4}_/.test(name)),
    'settings of plans': names.filter((name) => /^alter role .* set /.test(name)),
    'rights of the role': names.filter((name) => !/^\d{4}_/.test(name) && !/^alter role .* set /.test(name)),
  };
  const findings = Object.entries(kinds).map(([check, missing]) =>
    missing.length === 0 ? ok(check, 'nothing is missing') : judge(check, `missing: ${missing.join('; ')}: ${then}`),
  );
  // If the database is newer than this program, no migration is missing.
  if (fault && kinds.schema.length === 0) findings.push(failed('schema', fault));
  return findings;
}

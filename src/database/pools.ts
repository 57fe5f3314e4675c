import pg from 'pg';
import type { Logger } from '../process/log.ts';
import { watchPool } from '../process/metrics.ts';
import { CellPool } from './cells/cell-pool.ts';
import type { CellPaths } from './cells/connection.ts';
import { DatabaseClient } from './client.ts';
import { comesFrom, type Pool } from './database.ts';
import { PatientPool } from './patient-pool.ts';
import { AskedClient, NamelessClient, PathClient } from './pooled-client.ts';
import { agreeing } from './two-phase-client.ts';

/** Milliseconds that a request waits for a connection, or for an answer on it. It then gives up in time to send a 502 within 3 s. */
const CONNECT_TIMEOUT_MS = 1_800;
const QUERY_TIMEOUT_MS = 2_500;
const BACKGROUND_CONNECT_TIMEOUT_MS = 10_000;
/**
 * An idle connection stays open for five minutes. The first answers on a new one take tens of milliseconds, because the server has to
 * load its catalogue entries and prepare its statements.
 */
const MAX_IDLE_MS = 300_000;
/** Milliseconds after which TCP probes an idle connection, so that no firewall or proxy on the way drops it. */
const PROBE_AFTER_MS = 30_000;
const DEFAULT_CONNECTIONS = 10;

const INT8 = 20;
const DATE = 1082;

/** `bigint` arrives as a number, since counts and ids stay below 2^53. `date` and `numeric` arrive as text. */
const types = new pg.TypeOverrides();
types.setTypeParser(INT8, Number);
types.setTypeParser(DATE, (text) => text);

/**
 * Opens a pool. A connection that breaks while idle is dropped and logged; the next query opens another.
 * @param options `background`: queries may take any time, or `answerWithin` milliseconds (background work, imports, migrations);
 * `longestLife`: seconds after which a connection is replaced; `setUp`: statements that each connection runs before its first query;
 * `names`: false leaves statements unprepared, for a pooler in transaction mode; `cells`: set if the database has several
 */
export function createPool(
  url: string,
  log: Logger,
  options: {
    max?: number;
    background?: boolean;
    answerWithin?: number;
    longestLife?: number;
    name?: string;
    setUp?: string;
    names?: boolean;
    cells?: CellPaths | undefined;
  } = {},
): Pool {
  const { longestLife = 0, answerWithin = options.background ? undefined : QUERY_TIMEOUT_MS } = options;
  const setUp = setUpOf(options);
  const Client = clientFor(options);
  const config: pg.PoolConfig = {
    connectionString: url,
    Client,
    max: options.max ?? DEFAULT_CONNECTIONS,
    types,
    application_name: options.name ?? 'lombard',
    connectionTimeoutMillis: options.background ? BACKGROUND_CONNECT_TIMEOUT_MS : CONNECT_TIMEOUT_MS,
    ...(answerWithin === undefined ? {} : { query_timeout: answerWithin }),
    maxLifetimeSeconds: longestLife,
    idleTimeoutMillis: MAX_IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    allowExitOnIdle: false,
    ...(setUp === '' ? {} : { onConnect: async (client) => void (await client.query(setUp)) }),
  };
  const { names = true, cells } = options;
  const pool = cells ? new CellPool(config, cells, { ownSessions: names }) : new PatientPool(config);
  pool.on('connect', (client) => {
    if (!(client instanceof DatabaseClient)) return;
    comesFrom(client, { pool, another: (name) => new Client({ ...config, application_name: name }) });
  });
  watchPool(options.name ?? 'lombard', pool);
  pool.on('error', (error) => {
    // A closing pool does not wait until the server has closed its side.
    if (!pool.ending) log.warn({ reason: error.message }, 'an idle database connection broke');
  });
  return pool;
}

function clientFor({ names = true, cells }: { names?: boolean; cells?: CellPaths | undefined }): typeof DatabaseClient {
  if (names) return cells?.distributed ? agreeing(AskedClient) : DatabaseClient;
  if (!cells) return NamelessClient;
  return cells.distributed ? agreeing(PathClient) : PathClient;
}

/** The `setUp` of sessions of a database with several cells, which adds to what the caller asked for. */
function setUpOf({ setUp = '', names = true, cells }: SetUp): string {
  // A pooler keeps its own sessions, so this is its responsibility.
  if (!cells || !names) return setUp;
  // The server ends a statement, and frees its locks, if the caller that waited for a silent cell is gone.
  return [...(setUp === '' ? [] : [setUp]), "set client_connection_check_interval = '1s'"].join('; ');
}

interface SetUp {
  setUp?: string;
  names?: boolean;
  cells?: CellPaths | undefined;
}

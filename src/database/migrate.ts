import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../process/log.ts';
import { StartupError } from '../values/errors.ts';
import { codeOf, fieldsOf, messageOf } from '../values/unknown.ts';
import { cellsToMake, hasCitus } from './cells/cell.ts';
import {
  DISTRIBUTING,
  LOCAL,
  missingRolesOnWorkers,
  refuseOrdinaryOwner,
  serviceRoleOfCluster,
} from './cells/citus-statements.ts';
import { furtherSchemas, missingCellSteps } from './cells/migrations.ts';
import { viewsWithdrawn } from './cells/views.ts';
import { DatabaseClient } from './client.ts';
import { refusesLogin } from './fault.ts';
import { LOCKS } from './locks.ts';
import { applyCellStep, applySteps, printCellStep, printSteps, STEPS_TABLE } from './migration-steps.ts';
import { roleSettingStatements, workerRoleSettingStatements } from './plan-settings.ts';
import { type Migration, readMigrations } from './schema.ts';
import { hasServiceGroup, type ServiceRole, serviceRightsStatements, serviceRoleStatements } from './service-role.ts';

const MIN_SERVER_VERSION = 150_000;
const CONNECT_TIMEOUT_MS = 10_000;
const TURN_INTERVAL_MS = 100;
const INSUFFICIENT_PRIVILEGE = '42501';
/** The most characters of a statement that an error shows. */
const MAX_QUOTED = 200;

export interface MigrateOptions {
  /** The role in DATABASE_URL, if a different owner migrates. */
  service?: ServiceRole | undefined;
  /** LOMBARD_CELLS, if it is set. */
  cells?: number | undefined;
  /** Makes several cells on plain PostgreSQL too; for tests. */
  trialCells?: boolean;
  /** Replaces the files of migrations/; for tests. */
  migrations?: Migration[];
}

/** A step that is still to be run. */
interface Step {
  /** Names the step for a person. */
  name: string;
  sql: string;
}

/**
 * Brings the database to the newest schema. It applies each numbered file of migrations/ once, in order, step by step (migration-steps.ts),
 * and records it. Then it sets what plans rely on, and the rights of the service's role. Any number of processes may start at once.
 * @param url of the owner; not through a pooler in transaction mode
 * @throws StartupError if the server is older than PostgreSQL 15, or a recorded migration differs from its file
 */
export async function migrate(url: string, log: Logger, options: MigrateOptions = {}): Promise<void> {
  await asOwner(url, async (client, home) => {
    await takeTurn(client);
    await client.query(`${TABLE}; ${STEPS_TABLE}`);
    const migrations = options.migrations ?? (await readMigrations());
    const missing = await missingMigrations(client, migrations);
    if (missing.length > 0)
      await applyCellStep(client, viewsWithdrawn(home, await sessionStatement(client, home)), log).catch((error) => {
        throw failure('views over all cells', error);
      });
    const isNew = missing.length > 0 && missing.length === migrations.length;
    // The migrations of a new database take a second together, and one line says enough about them.
    const level = isNew ? 'debug' : 'info';
    for (const migration of missing) {
      await applySteps(client, migration, { log, level }).catch((error) => {
        throw failure(`migration ${migration.name}`, error);
      });
      log[level]({ migration: migration.name }, 'database migrated');
    }
    if (isNew) log.info({ migrations: missing.length }, 'the tables of a new database were made');
    const cellSteps = await missingCellSteps(client, { home, cells: await cellsOf(client, options), migrations });
    if (cellSteps.length > 0 && (await hasCitus(client))) await refuseOrdinaryOwner(client);
    for (const step of cellSteps) {
      await applyCellStep(client, step, log).catch((error) => {
        throw failure(step.name, error);
      });
      log.info({ step: step.name }, 'cell migrated');
    }
    for (const step of await missingSettings(client, home, options)) await run(client, step);
  });
}

/**
 * Only the last part of `migrate`: roles, their rights and what plans rely on, also on the workers of a cluster. A worker that was added
 * since the last migration needs them before it gets a cell.
 * @param url of the owner
 * @throws StartupError, or the error of the server that cannot get them
 */
export async function migrateSettings(url: string, options: MigrateOptions = {}): Promise<void> {
  await asOwner(url, async (client, home) => {
    await takeTurn(client);
    for (const step of await missingSettings(client, home, options)) await run(client, step);
  });
}

async function cellsOf(client: pg.Client, { cells, trialCells }: MigrateOptions): Promise<number> {
  return trialCells ? (cells ?? 1) : cellsToMake(client, cells);
}

/** What `migrate` would do now, without changing anything. @returns names for a person, and the statements as one text */
export async function whatIsMissing(
  url: string,
  options: MigrateOptions = {},
): Promise<{ names: string[]; sql: string }> {
  return asOwner(url, async (client, home) => {
    const migrations = options.migrations ?? (await readMigrations());
    const missing = await missingMigrations(client, migrations);
    const cellSteps = await missingCellSteps(client, { home, cells: await cellsOf(client, options), migrations });
    const settings = await missingSettings(client, home, options, {
      pending: missing.length + cellSteps.length > 0,
      // No cell is made yet. The printed text makes cells before it sets anything.
      makesCells: cellSteps.length > 0,
    });
    const printed = missing.map((migration) => printSteps(client, migration));
    const session = await sessionStatement(client, home);
    if (printed.length > 0)
      printed.unshift(`${TABLE};\n${STEPS_TABLE};\n`, printCellStep(viewsWithdrawn(home, session)));
    printed.push(...cellSteps.map(printCellStep));
    if (cellSteps.length > 0) printed.push(`${session};\n`);
    printed.push(...settings.map(({ sql }) => `${sql};\n`));
    const names = [...missing, ...cellSteps, ...settings].map(({ name }) => name);
    return { names, sql: names.length > 0 ? `${session};\n${printed.join('\n')}` : '' };
  });
}

const TABLE = `create table if not exists migrations (
  number int primary key, name text not null, sha256 text not null, oldest_program int not null,
  applied_at timestamptz not null default now())`;

async function asOwner<T>(url: string, work: (client: pg.Client, home: string) => Promise<T>): Promise<T> {
  const client = new DatabaseClient({
    connectionString: url,
    application_name: 'lombard-migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  await client.connect().catch((error: Error) => {
    const what = refusesLogin(error) ? 'refuses the login' : 'cannot be reached';
    throw new StartupError(`the database ${what}: ${error.message} (DATABASE_URL, docs/configuration.md)`, {
      cause: error,
    });
  });
  try {
    await refuseOldServer(client);
    const home = await homeSchema(client);
    await client.query(await sessionStatement(client, home));
    // The server ends a waiting statement if its process is killed.
    await client.query("set client_connection_check_interval = '1s'");
    return await work(client, home);
  } finally {
    await client.end();
  }
}

/** The schema of the first cell, which also holds what exists once. @throws StartupError */
async function homeSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string | null }>('select current_schema() as name');
  if (rows[0]?.name) return rows[0].name;
  throw new StartupError(
    'the database has no schema in which this user may make tables (search_path): create it first',
  );
}

/**
 * Migrations name no schema. They make everything in the first existing schema of the owner's `search_path`, by default `public`. Functions
 * that run as their owner keep this path (`set search_path from current`); temporary tables of a caller come last in it.
 */
async function sessionStatement(client: pg.Client, home: string): Promise<string> {
  const path = `set search_path = ${client.escapeIdentifier(home)}, pg_temp`;
  // What exists once stays on the coordinator. Citus would send functions, types and grants to its workers, and accepts only one statement
  // in a message.
  return (await hasCitus(client)) ? `${path}; ${LOCAL}` : path;
}

/**
 * Lets one process migrate at a time. The others ask repeatedly. A statement that waited would hold a snapshot, and `create index
 * concurrently` waits for snapshots.
 */
async function takeTurn(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
      LOCKS.migration,
    ]);
    if (rows[0]?.mine) return;
    await pause(TURN_INTERVAL_MS);
  }
}

async function missingMigrations(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows: tables } = await client.query("select where to_regclass('migrations') is not null");
  const done = new Map<number, string>();
  if (tables.length > 0) {
    const { rows } = await client.query<{ number: number; sha256: string }>('select number, sha256 from migrations');
    for (const row of rows) done.set(row.number, row.sha256);
  }
  for (const { number, name, sha256 } of migrations)
    if (done.has(number) && done.get(number) !== sha256)
      throw new StartupError(
        `migration ${name} was applied with different content: restore the file, or use an empty database`,
      );
  return migrations.filter(({ number }) => !done.has(number));
}

/**
 * The statements for what plans rely on, for each role that runs statements, and for the rights of the service's role.
 * @param before `pending`: migrations are missing too; `makesCells`: cells are missing too
 */
async function missingSettings(
  client: pg.Client,
  home: string,
  { service }: MigrateOptions,
  { pending, makesCells } = { pending: false, makesCells: false },
): Promise<Step[]> {
  const step = (sql: string): Step => ({
    name: sql.startsWith('do ') ? 'roles and their settings on the workers' : sql.replace(/ password '.*'/, ''),
    sql,
  });
  const session = await sessionStatement(client, home);
  await client.query(session);
  const distributed = (await hasCitus(client)) && (makesCells || (await furtherSchemas(client)).cells.length > 0);
  const steps = (await roleSettingStatements(client, client.user ?? '', distributed)).map(step);
  const onWorkers = async (...roles: string[]) =>
    distributed ? (await workerRoleSettingStatements(client, roles)).map(step) : [];
  if (distributed) steps.push(...(await missingRolesOnWorkers(client)).map(step));
  // GraphQL reads on the workers under a role of its own.
  steps.push(...(await onWorkers(client.user ?? '', 'lombard_client')));
  if (!service || service.user === client.user) return steps;
  steps.push(...(await serviceRoleStatements(client, service, pending)).map(step));
  if (distributed) steps.push(...(await serviceRoleOfCluster(client, service)).map(step));
  if (!pending) steps.push(...(await missingCellRights(client, { session, distributed })).map(step));
  steps.push(...(await roleSettingStatements(client, service.user, distributed)).map(step));
  return [...steps, ...(await onWorkers(service.user))];
}

/** The rights that the service's role still lacks in the schemas of further cells. @param session the settings for the home schema */
async function missingCellRights(
  client: pg.Client,
  { session, distributed }: { session: string; distributed: boolean },
): Promise<string[]> {
  const statements: string[] = [];
  const { cells, views } = await furtherSchemas(client);
  for (const schema of [...cells, ...views]) {
    const onWorkers = distributed && cells.includes(schema);
    const path = `set search_path = ${client.escapeIdentifier(schema)}, pg_temp${onWorkers ? `; ${DISTRIBUTING}` : ''}`;
    await client.query(path);
    const rights = await serviceRightsStatements(client, await hasServiceGroup(client));
    if (rights.length > 0) statements.push(path, ...rights, session);
    await client.query(session);
  }
  return statements;
}

async function run(client: pg.Client, step: Step): Promise<void> {
  await client.query(step.sql).catch((error) => {
    throw failure(step.name, error);
  });
}

/** The error for a failed step. If a privilege is missing, the person who migrates can grant it. */
function failure(name: string, error: unknown): Error {
  const { statement } = fieldsOf(error);
  const at = typeof statement === 'string' ? ` (${statement.replace(/\s+/g, ' ').slice(0, MAX_QUOTED)})` : '';
  const [what, message] = [name + at, messageOf(error)];
  if (codeOf(error) === INSUFFICIENT_PRIVILEGE)
    return new StartupError(`${what}: ${message}. Let an administrator run it, or migrate as a role that may`, {
      cause: error,
    });
  return new Error(`${what} failed: ${message}`, { cause: error });
}

async function refuseOldServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  const version = rows[0]?.version ?? 0;
  if (version < MIN_SERVER_VERSION) {
    throw new StartupError(
      `DATABASE_URL: PostgreSQL 15 or newer is required; the server is ${Math.floor(version / 10_000)}`,
    );
  }
}

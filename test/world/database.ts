import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { type MigrateOptions, migrate } from '../../src/database/migrate.ts';
import { startEmbedded } from '../../src/embedded/postgres.ts';
import { createLog } from '../../src/process/log.ts';
import { databaseUrl, joinDatabases, onServer, workersOf } from './cluster.ts';
import { removeWithTests } from './leftovers.ts';
import { until } from './until.ts';

/** A quiet log. With LOMBARD_TEST_LOG=debug, it shows the service's messages. */
export const log = createLog((process.env.LOMBARD_TEST_LOG as 'silent') ?? 'silent', false);

/** If two runs share a given server, each needs its own template name. */
const TEMPLATE = process.env.LOMBARD_TEST_TEMPLATE ?? 'lombard_template';

/** Cells of the databases of a run (LOMBARD_TEST_CELLS), each a schema of one PostgreSQL; default: 1 (CONTRIBUTING, Several cells). */
const CELLS: MigrateOptions = process.env.LOMBARD_TEST_CELLS
  ? { cells: Number(process.env.LOMBARD_TEST_CELLS), trialCells: true }
  : {};

/** Why tests are skipped that need a given server or a cluster. */
export const NO_GIVEN_SERVER = 'LOMBARD_TEST_DATABASE_URL names no PostgreSQL server';
export const NO_CLUSTER = 'LOMBARD_TEST_DATABASE_URL names no database that has the workers of a Citus cluster';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A server with a migrated template database. */
export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

/** The connection string of a superuser on an existing server that the tests must use, with any database. */
export function givenServer(): string | undefined {
  return process.env.LOMBARD_TEST_DATABASE_URL || undefined;
}

/** The server of a run: the given one, or a new one. */
export async function openServer(): Promise<TestServer> {
  const url = givenServer();
  if (url === undefined) return startServer();
  await prepareTemplate(url);
  return {
    url,
    stop: async () => {
      for (const each of [url, ...(await clusterOf(url))]) await dropTemplate(each);
    },
  };
}

/** Starts a server with a migrated template database; test/run.ts does this once for all files. */
export async function startServer(): Promise<TestServer> {
  const dataDir = removeWithTests(mkdtempSync(join(tmpdir(), 'lombard-test-')));
  const server = await startEmbedded({ dataDir, log, durable: false });
  await prepareTemplate(server.url);
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Makes the database that `createDatabase` clones. If the server has Citus, the template has it too; on a coordinator, each server of the
 * cluster gets a template. Citus' maintenance process would block cloning, so nobody may connect to the template afterwards.
 */
export async function prepareTemplate(server: string): Promise<void> {
  const servers = [server, ...(await clusterOf(server))];
  for (const each of servers) {
    await dropTemplate(each);
    await onServer(each, (client) => client.query(`create database ${TEMPLATE} template template0`));
  }
  const citus = await onServer(server, async (client) => {
    const { rows } = await client.query<{ citus: boolean }>(
      `select current_setting('shared_preload_libraries') ~ '\\ycitus\\y' as citus`,
    );
    return rows[0]?.citus ?? false;
  });
  const [template = '', ...others] = servers.map((each) => databaseUrl(each, TEMPLATE));
  if (others.length > 0) await joinDatabases(template, others);
  else if (citus) await onServer(template, (client) => client.query('create extension citus'));
  await migrate(template, log, CELLS);
  if (!citus) return;
  for (const each of servers) {
    await onServer(each, async (client) => {
      await client.query(`alter database ${TEMPLATE} allow_connections false`);
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [TEMPLATE]);
    });
  }
}

/** The workers of a cluster, if its tests are to have several cells; without workers, the coordinator holds all tables. */
async function clusterOf(server: string): Promise<string[]> {
  return CELLS.cells === undefined ? [] : workersOf(server);
}

async function dropTemplate(server: string): Promise<void> {
  await onServer(server, (client) => client.query(`drop database if exists ${TEMPLATE} with (force)`));
}

/** The server of a file that runs alone. It lives as long as any of its databases. */
let own: Promise<TestServer> | undefined;
let databases = 0;

async function serverUrl(): Promise<string> {
  const given = process.env.LOMBARD_TEST_SERVER;
  if (given) return given;
  own ??= openServer();
  return (await own).url;
}

async function leaveServer(): Promise<void> {
  databases -= 1;
  if (databases > 0 || !own) return;
  const server = await own;
  own = undefined;
  await server.stop();
}

/** A fresh database without a schema. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('template0');
}

export interface ClusterDatabase extends TestDatabase {
  /** Adds the worker that was left out. */
  addWorker(): Promise<void>;
}

/**
 * A fresh database without a schema on each server of a cluster; undefined if the given server is not part of a cluster.
 * @param options `leaveOut`: leaves out the last worker until it is added
 */
export async function createClusterDatabase({ leaveOut = false } = {}): Promise<ClusterDatabase | undefined> {
  const given = givenServer();
  const workers = given === undefined ? [] : await workersOf(given);
  if (workers.length === 0) return undefined;
  const database = await createEmptyDatabase();
  const name = new URL(database.url).pathname.slice(1);
  for (const worker of workers) await onServer(worker, (client) => client.query(`create database ${name}`));
  const urls = workers.map((worker) => databaseUrl(worker, name));
  await joinDatabases(database.url, leaveOut ? urls.slice(0, -1) : urls);
  return {
    url: database.url,
    addWorker: () => joinDatabases(database.url, urls.slice(-1)),
    drop: async () => {
      // Transactions that a coordinator has prepared but not committed would keep the workers' databases from being dropped.
      await onServer(database.url, (client) => client.query('select recover_prepared_transactions()'));
      for (const worker of workers)
        await onServer(worker, (client) => client.query(`drop database if exists ${name} with (force)`));
      await database.drop();
    },
  };
}

/** A fresh database for a service that migrates at its start: cloned from the template. */
export function cloneDatabase(): Promise<TestDatabase> {
  return create(TEMPLATE);
}

/** A fresh database with the newest schema, cloned from the template. */
export async function createDatabase(): Promise<TestDatabase> {
  const database = await cloneDatabase();
  // Settings for role and database stay with the template; migrating sets them here as well.
  await migrate(database.url, log);
  return database;
}

/** Like `createDatabase`, but with one cell, whatever LOMBARD_TEST_CELLS says. */
export async function createDatabaseOfOneCell(): Promise<TestDatabase> {
  if (CELLS.cells === undefined) return createDatabase();
  const database = await createEmptyDatabase();
  await migrate(database.url, log);
  return database;
}

async function create(template: string): Promise<TestDatabase> {
  databases += 1;
  const server = await serverUrl();
  const servers = [server, ...(template === TEMPLATE ? await clusterOf(server) : [])];
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  for (const each of servers) await onServer(each, (client) => clone(client, name, template));
  return {
    url: databaseUrl(server, name),
    drop: async () => {
      for (const each of servers)
        await onServer(each, (client) => client.query(`drop database if exists ${name} with (force)`));
      await leaveServer();
    },
  };
}

/** Cloning fails while another session is connected to the template. */
async function clone(client: pg.Client, name: string, template: string): Promise<void> {
  await until(async () => {
    try {
      await client.query(`create database ${name} template ${template} strategy file_copy`);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== '55006') throw error;
      return false;
    }
  });
}

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../../src/embedded/postgres.ts';
import { createLog } from '../../src/log.ts';
import { type MigrateOptions, migrate } from '../../src/migrate.ts';

/** A quiet log; LOMBARD_TEST_LOG=debug shows what the service says. */
export const log = createLog((process.env.LOMBARD_TEST_LOG as 'silent') ?? 'silent', false);

const TEMPLATE = 'lombard_template';

/** Cells of the databases of a run (LOMBARD_TEST_CELLS), each a schema of one PostgreSQL; default: 1 (CONTRIBUTING, Several cells). */
const CELLS: MigrateOptions = process.env.LOMBARD_TEST_CELLS
  ? { cells: Number(process.env.LOMBARD_TEST_CELLS), trialCells: true }
  : {};

/** The reason to skip what needs a given server. */
export const NO_GIVEN_SERVER = 'LOMBARD_TEST_DATABASE_URL names no PostgreSQL server';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A server with a migrated template database. */
export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

/** The server that somebody else started and that the tests are to run against: a superuser's connection string, with any database. */
export function givenServer(): string | undefined {
  return process.env.LOMBARD_TEST_DATABASE_URL || undefined;
}

/** The server of a run: the given one, or else one of its own. */
export async function openServer(): Promise<TestServer> {
  const url = givenServer();
  if (url === undefined) return startServer();
  await prepareTemplate(url);
  return { url, stop: () => dropTemplate(url) };
}

/** Starts a server with a migrated template database; test/run.ts does it once for all files. */
export async function startServer(): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-test-'));
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
 * Makes the database that `createDatabase` clones. Where the server has Citus, so has the template. Its maintenance process would keep
 * others from cloning the template, so that nobody may connect to it afterwards.
 */
export async function prepareTemplate(server: string): Promise<void> {
  await dropTemplate(server);
  const citus = await withClient(server, async (client) => {
    await client.query(`create database ${TEMPLATE} template template0`);
    const { rows } = await client.query<{ citus: boolean }>(
      `select current_setting('shared_preload_libraries') ~ '\\ycitus\\y' as citus`,
    );
    return rows[0]?.citus ?? false;
  });
  const template = databaseUrl(server, TEMPLATE);
  if (citus) await withClient(template, (client) => client.query('create extension citus'));
  await migrate(template, log, CELLS);
  if (!citus) return;
  await withClient(server, async (client) => {
    await client.query(`alter database ${TEMPLATE} allow_connections false`);
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [TEMPLATE]);
  });
}

async function dropTemplate(server: string): Promise<void> {
  await withClient(server, (client) => client.query(`drop database if exists ${TEMPLATE} with (force)`));
}

/** The server of a file that is run alone; it lives as long as one of its databases does. */
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

/** A fresh database for a service that migrates at its start: cloned from the template. */
export function cloneDatabase(): Promise<TestDatabase> {
  return create(TEMPLATE);
}

/** A fresh database with the newest schema, cloned from the template. */
export async function createDatabase(): Promise<TestDatabase> {
  const database = await cloneDatabase();
  // What is set for role and database stays with the template: migrating sets it here as well.
  await migrate(database.url, log);
  return database;
}

async function create(template: string): Promise<TestDatabase> {
  databases += 1;
  const server = await serverUrl();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withClient(server, async (client) => {
    // Cloning refuses while another session looks at the template.
    for (let attempt = 0; ; attempt += 1) {
      try {
        await client.query(`create database ${name} template ${template} strategy file_copy`);
        break;
      } catch (error) {
        if (attempt >= 50 || (error as { code?: string }).code !== '55006') throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  });
  return {
    url: databaseUrl(server, name),
    drop: async () => {
      await withClient(
        server,
        async (client) => void (await client.query(`drop database if exists ${name} with (force)`)),
      );
      await leaveServer();
    },
  };
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.toString();
}

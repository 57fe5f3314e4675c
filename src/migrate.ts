import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { sha256 } from './crypto.ts';
import { type Db, first } from './database.ts';
import { StartupError } from './errors.ts';
import { LOCKS } from './locks.ts';
import type { Logger } from './log.ts';
import { planSettingStatements } from './plan-settings.ts';

const MIN_SERVER_VERSION = 150_000;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Brings the database to the newest schema: applies each numbered file of migrations/ once, in order, in a transaction that also
 * records it. Any number of processes may start at once.
 * @throws StartupError if the server is older than 15, or a recorded migration differs from the file
 */
export async function migrate(url: string, log: Logger): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'lombard-migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // Without a listener a broken connection would end the process. The current query fails anyway.
  client.on('error', () => {});
  await client.connect().catch((error: Error) => {
    throw new StartupError(`the database cannot be reached: ${error.message} (DATABASE_URL, docs/configuration.md)`, {
      cause: error,
    });
  });
  try {
    await refuseOldServer(client);
    await client.query('select pg_advisory_lock($1)', [LOCKS.migration]);
    await client.query(`create table if not exists migrations (
      number int primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())`);
    const done = new Map<number, string>();
    for (const row of (await client.query<{ number: number; sha256: string }>('select number, sha256 from migrations'))
      .rows) {
      done.set(row.number, row.sha256);
    }
    for (const migration of await readMigrations()) {
      const recorded = done.get(migration.number);
      if (recorded === migration.sha256) continue;
      if (recorded)
        throw new StartupError(
          `migration ${migration.name} was applied with different content: restore the file, or use an empty database`,
        );
      await apply(client, migration);
      log.info({ migration: migration.name }, 'database migrated');
    }
    for (const statement of await planSettingStatements(client, client.user ?? '')) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Why the schema of a database does not fit this program, in words for its operator; undefined where it does. */
export async function schemaFault(db: Db): Promise<string | undefined> {
  newest ??= (await readMigrations()).at(-1)?.number ?? 0;
  const row = first(await db.query<{ number: number | null }>('select max(number) as number from migrations'));
  const found = row?.number ?? 0;
  if (found >= newest) return undefined;
  return `the database has schema ${found}, and this program needs schema ${newest}`;
}

/** The newest migration of this program. */
let newest: number | undefined;

interface Migration {
  number: number;
  name: string;
  sql: string;
  sha256: string;
}

async function readMigrations(): Promise<Migration[]> {
  const folder = new URL('../migrations/', import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      return { number: Number(name.slice(0, 4)), name, sql, sha256: sha256(sql).toString('hex') };
    }),
  );
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query('insert into migrations (number, name, sha256) values ($1, $2, $3)', [
      migration.number,
      migration.name,
      migration.sha256,
    ]);
    await client.query(migration.sql);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    const { code, message } = error as Error & { code?: string };
    // The person who starts the service can grant the missing privilege (SQLSTATE 42501).
    const Failure = code === '42501' ? StartupError : Error;
    throw new Failure(`migration ${migration.name} failed: ${message}`, { cause: error });
  }
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

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { examine } from '../src/cli/doctor/examine.ts';
import { serverAccount } from '../src/embedded/account.ts';
import { freePort } from '../src/embedded/port.ts';
import { refusePooler } from '../src/pooler.ts';
import { accessToken } from './world/access-token.ts';
import { createWorld } from './world/client.ts';
import { until } from './world/command.ts';
import { createDatabase } from './world/database.ts';
import { startTestService } from './world/service.ts';

/** The service through PgBouncer in transaction mode (docs/configuration.md). */
const PGBOUNCER = '/usr/sbin/pgbouncer';
const skip = existsSync(PGBOUNCER) ? false : `PgBouncer is not installed as ${PGBOUNCER} (Debian: pgbouncer)`;

/** PgBouncer before a database. @param mode its pool_mode */
async function startPooler(url: string, mode: string): Promise<{ url: string; stop(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'lombard-pgbouncer-'));
  const account = serverAccount(join(directory, 'none'));
  const server = new URL(url);
  const port = await freePort();
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 5
`,
  );
  chownSync(directory, account.uid, account.gid);
  chownSync(file, account.uid, account.gid);
  const child = spawn(PGBOUNCER, ['-q', file], { stdio: 'ignore', ...account.spawn });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const pooled = new URL(url);
  pooled.port = String(port);
  await until(async () => {
    const client = new pg.Client({ connectionString: pooled.toString() });
    client.on('error', () => {});
    const reached = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => {});
    return reached;
  });
  return {
    url: pooled.toString(),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

test('a pooler in transaction mode is refused, and works with the address of the server itself', { skip }, async () => {
  const database = await createDatabase();
  const pooler = await startPooler(database.url, 'transaction');
  const through = { url: pooler.url, drop: async () => {} };
  try {
    await assert.rejects(
      startTestService({}, through),
      /^StartupError: DATABASE_URL leads through a pooler in transaction mode: LOMBARD_SESSION_DATABASE_URL must name the server itself/,
    );
    const doctor = async (more: Record<string, string>) =>
      (await examine({ LOMBARD_DATA_DIR: '/none', DATABASE_URL: pooler.url, ...more })).find(
        ({ check }) => check === 'pooler',
      );
    assert.equal((await doctor({}))?.status, 'failed');
    assert.equal((await doctor({ LOMBARD_SESSION_DATABASE_URL: database.url }))?.status, 'ok');
    const wrong = { DATABASE_URL: 'postgres://127.0.0.1:9/none', LOMBARD_SESSION_DATABASE_URL: database.url };
    assert.match((await doctor(wrong))?.message ?? '', /^DATABASE_URL does not lead to the database/);
    const service = await startTestService(
      { DATABASE_URL: pooler.url, LOMBARD_SESSION_DATABASE_URL: database.url },
      through,
    );
    try {
      const world = await createWorld(service);
      assert.equal((await world.pay()).status, 201);
      const token = await accessToken(service, world.contactId);
      const search = () => service.client(token, 'GET', `/payments?client_id=${world.clientId}`);
      const pages = await Promise.all(Array.from({ length: 40 }, search));
      assert.deepEqual([...new Set(pages.map(({ status, body }) => `${status} ${body.length}`))], ['200 1']);
    } finally {
      await service.stop();
    }
  } finally {
    await pooler.stop();
    await database.drop();
  }
});

test('a pooler in session mode is an ordinary address', { skip }, async () => {
  const database = await createDatabase();
  const pooler = await startPooler(database.url, 'session');
  try {
    await refusePooler(pooler.url);
    await refusePooler(database.url);
  } finally {
    await pooler.stop();
    await database.drop();
  }
});

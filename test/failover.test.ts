import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseClient } from '../src/database/client.ts';
import { readHosts } from '../src/settings/database-hosts.ts';
import { createWorld } from './world/client.ts';
import {
  type DefaultServer,
  defaultPrograms,
  NO_DEFAULT_POSTGRESQL,
  startDefaultServer,
  startStandby,
} from './world/default-postgresql.ts';
import { call, startTestService } from './world/service.ts';
import { until } from './world/until.ts';

/** Several hosts in DATABASE_URL, and a failover from one PostgreSQL to its standby (docs/configuration.md). */
const skip = defaultPrograms() ? false : NO_DEFAULT_POSTGRESQL;

test('a connection string is read as libpq reads it', () => {
  const cases: [string, string[], string][] = [
    ['postgres://u:p@a/db', ['postgres://u:p@a/db'], 'any'],
    [
      'postgres://u:p@a,b/db?target_session_attrs=read-write',
      ['postgres://u:p@a/db', 'postgres://u:p@b/db'],
      'read-write',
    ],
    ['postgresql://a:1,[::1]:2,b/db', ['postgresql://a:1/db', 'postgresql://[::1]:2/db', 'postgresql://b/db'], 'any'],
    ['postgres://a,b/db?port=5433', ['postgres://a:5433/db', 'postgres://b:5433/db'], 'any'],
    ['postgres:///db?host=%2Frun,::1', ['postgres://%2Frun/db', 'postgres://[::1]/db'], 'any'],
    ['postgres://u@/db?host=a,b&port=1,2', ['postgres://u@a:1/db', 'postgres://u@b:2/db'], 'any'],
    [
      'postgres://a:1/db?sslmode=require&target_session_attrs=primary',
      ['postgres://a:1/db?sslmode=require'],
      'primary',
    ],
  ];
  for (const [url, addresses, session] of cases) assert.deepEqual(readHosts(url), { addresses, session }, url);
  for (const [url, fault] of [
    [
      'postgres://a,b/db?target_session_attrs=standby',
      /target_session_attrs=standby: must be any, read-write or primary/,
    ],
    ['postgres://a,b/db?port=1,2,3', /more or fewer ports than hosts/],
    ['postgres://a:port,b/db', /must be an address of hosts and ports/],
    ['mysql://a/db', /begins with postgres:\/\//],
  ] as const)
    assert.throws(() => readHosts(url), fault, url);
});

async function caughtUp(primary: DefaultServer, standby: DefaultServer): Promise<void> {
  const [one, other] = [primary, standby].map(({ url }) => new pg.Client({ connectionString: url })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([one.connect(), other.connect()]);
  const { rows } = await one.query('select pg_current_wal_flush_lsn()::text as at');
  const replayed = 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as done';
  await until(async () => (await other.query(replayed, [rows[0].at])).rows[0].done);
  await Promise.all([one.end(), other.end()]);
}

async function promote({ url }: DefaultServer): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('select pg_promote()');
  await client.end();
}

for (const [name, how] of [
  ['is killed', 'SIGKILL'],
  ['goes silent', 'SIGSTOP'],
] as const) {
  test(`the primary ${name}, the standby is promoted: requests succeed again`, {
    skip,
  }, async (t) => {
    const primary = (await startDefaultServer()) as DefaultServer;
    const standby = await startStandby(primary);
    const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres?target_session_attrs=read-write`;
    // The standby comes first in one of them: what counts is what a session may do.
    const other = url.replace(/127[^/]*/, `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`);
    const service = await startTestService(
      { DATABASE_URL: url, LOMBARD_SESSION_DATABASE_URL: other },
      { url, drop: async () => {} },
    );
    try {
      const world = await createWorld(service);
      const token = await world.signIn();
      const search = () => service.client(token, 'GET', `/payments?client_id=${world.clientId}`);
      assert.equal((await world.pay()).status, 201);
      await caughtUp(primary, standby);

      primary.signal(how);
      const lost = await world.pay();
      assert.equal(lost.status, 502, lost.text);
      await until(async () => (await call(`${service.service.healthUrl}/health/ready`, 'GET')).status === 503);
      assert.equal((await world.pay()).status, 502);
      await promote(standby);
      const began = performance.now();
      await until(async () => {
        const answers = await Promise.all([search(), world.pay()]);
        return answers.every(({ status }) => status < 300);
      });
      t.diagnostic(`after ${Math.round(performance.now() - began)} ms`);
      await until(async () => (await call(`${service.service.healthUrl}/health/ready`, 'GET')).status === 200);
      for (let times = 0; times < 20; times += 1) {
        assert.equal((await search()).status, 200);
        assert.equal((await world.pay()).status, 201);
        await pause(20);
      }
    } finally {
      await service.stop();
      primary.signal('SIGCONT');
      await Promise.all([standby.stop(), primary.stop()]);
    }
  });
}

test('any: the first host that answers; none of them: the error of the first', { skip }, async () => {
  const server = (await startDefaultServer()) as DefaultServer;
  try {
    const client = new DatabaseClient({
      connectionString: `postgres://postgres@127.0.0.1:1,127.0.0.1:${server.port}/postgres`,
    });
    await client.connect();
    assert.equal((await client.query('select 1 as one')).rows[0].one, 1);
    await client.end();
    const nobody = new DatabaseClient({ connectionString: 'postgres://postgres@127.0.0.1:1,127.0.0.1:2/postgres' });
    await assert.rejects(nobody.connect(), /ECONNREFUSED/);
  } finally {
    await server.stop();
  }
});

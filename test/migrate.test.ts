import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { listCells } from '../src/database/cells/cell.ts';
import { splitStatements } from '../src/database/cells/migrations.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { clearChanges } from '../src/feed/retention.ts';
import { dropOldDays } from '../src/webhooks/delivery/retention.ts';
import { OWN_SCHEMA } from './world/cells.ts';
import { lombard, PORTS, printed } from './world/command.ts';
import { createDatabase, createEmptyDatabase } from './world/database.ts';
import { createSubscriber } from './world/graphql.ts';
import { startTestService, type TestService } from './world/service.ts';
import { until } from './world/until.ts';

/** `lombard migrate`, LOMBARD_MIGRATE=no, schemas of other programs, and a role of the service that may alter nothing. */

async function query(url: string, text: string, values?: unknown[]): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await client.query(text, values);
  } finally {
    await client.end();
  }
}

test('lombard migrate: --check says what is missing, --print writes it, and it is enough', async () => {
  const database = await createEmptyDatabase();
  try {
    const environment = { DATABASE_URL: database.url };
    const checked = await lombard(['migrate', '--check'], environment).ended;
    assert.equal(checked.code, 1, checked.stderr);
    assert.match(checked.stdout, /^missing: 0001_kernel\.sql$/m);
    assert.match(checked.stdout, /^missing: alter role .* set random_page_cost = '1\.1'$/m);
    await assert.rejects(startTestService({ LOMBARD_MIGRATE: 'no' }, database), /has no schema yet.*lombard migrate/);

    const printed = await lombard(['migrate', '--print'], environment).ended;
    assert.equal(printed.code, 0, printed.stderr);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    // One after the other, as psql does it.
    for (const statement of splitStatements(printed.stdout)) await client.query(statement);
    await client.end();
    const again = await lombard(['migrate', '--check'], environment).ended;
    assert.deepEqual([again.code, again.stdout], [0, '']);
    const service = await startTestService({ LOMBARD_MIGRATE: 'no' }, { url: database.url, drop: async () => {} });
    assert.equal((await service.operator('GET', '/clients')).status, 200);
    await service.stop();
  } finally {
    await database.drop();
  }
});

test('the embedded database: it is started for the command where no service runs, and used where one does', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-migrate-'));
  const environment = { ...PORTS, LOMBARD_DATA_DIR: dataDir, LOMBARD_MIGRATE: 'no' };
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await lombard(args, environment).ended;
    return { code, stdout, stderr };
  };
  const free = () => assert.equal(existsSync(join(dataDir, 'postgres.lock')), false);
  try {
    const none = await run('migrate', '--check');
    assert.equal(none.stderr, `lombard: set DATABASE_URL; ${dataDir} does not contain an embedded database\n`);
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    await (await startEmbedded({ dataDir, log })).stop();

    const checked = await run('migrate', '--check');
    assert.deepEqual([checked.code, checked.stderr], [1, '']);
    assert.match(checked.stdout, /^missing: 0001_kernel\.sql$/m);
    free();
    const written = await run('migrate', '--print');
    assert.deepEqual([written.code, written.stderr], [0, '']);
    assert.match(written.stdout, /^set search_path = [\s\S]*create table/);
    const migrated = await run('migrate');
    assert.deepEqual([migrated.code, migrated.stderr], [0, '']);
    const lines = migrated.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    assert.deepEqual(lines, ['the tables of a new database were made'], 'one line');
    assert.deepEqual(await run('migrate', '--check'), { code: 0, stdout: '', stderr: '' });
    const created = await run('operator-tokens', 'create', 'first', '--database');
    assert.deepEqual([created.code, created.stderr], [0, '']);
    free();

    const service = lombard(['serve'], environment);
    await printed(service, /"msg":"ready"/);
    assert.deepEqual(await run('migrate', '--check'), { code: 0, stdout: '', stderr: '' });
    assert.equal(service.child.exitCode, null);
    service.child.kill('SIGTERM');
    assert.equal((await service.ended).code, 0);
    free();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('all tables and functions are in the schema of the search_path, whatever its name', {
  skip: OWN_SCHEMA,
}, async () => {
  const database = await createEmptyDatabase();
  try {
    const name = new URL(database.url).pathname.slice(1);
    await query(database.url, `create schema "of Lombard"; alter database ${name} set search_path = "of Lombard"`);
    const printed = await lombard(['migrate', '--print'], { DATABASE_URL: database.url }).ended;
    assert.match(printed.stdout, /^set search_path = "of Lombard", pg_temp;$/m);
    const service = await startTestService({}, { url: database.url, drop: async () => {} });
    try {
      const subscriber = await createSubscriber(service);
      await subscriber.history(await subscriber.subscribe(), 2);
      await subscriber.pay();
      const shown = await subscriber.graphql(
        '{ subscriptions { nodes { notifications { nodes { body attempts { totalCount } } } } } }',
      );
      assert.equal(shown.errors, undefined, shown.text);
      assert.equal(shown.data.subscriptions.nodes[0].notifications.nodes[0].attempts.totalCount, 1);
      const { clock, backgroundPool } = service.service.context;
      const later = new Date(clock.now().getTime() + 4 * 86_400_000);
      assert.equal((await dropOldDays(backgroundPool, 2, later)).length, 2);
      assert.equal((await listCells(backgroundPool))[0]?.cell, 'of Lombard');
      const days = await service.query("select create_audit_day('2031-01-01') as made");
      assert.deepEqual(days.rows, [{ made: true }]);
      const proved = await service.operator('GET', '/audit/verify');
      assert.equal(proved.body.valid, true, proved.text);
    } finally {
      await service.stop();
    }
    const elsewhere = await query(
      database.url,
      "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S') union all " +
        "select proname from pg_proc where pronamespace = 'public'::regnamespace",
    );
    assert.deepEqual(elsewhere.rows, []);
  } finally {
    await database.drop();
  }
});

test('a schema that needs a newer program is refused, one that this program works beside is not', async () => {
  const database = await createDatabase();
  try {
    const newer = "insert into migrations (number, name, sha256, oldest_program) values (9998, 'beside', '', 1)";
    await query(database.url, newer);
    const service = await startTestService({}, { url: database.url, drop: async () => {} });
    await query(
      database.url,
      "insert into migrations (number, name, sha256, oldest_program) values (9999, 'beyond', '', 9999)",
    );
    const ready = async () => (await service.operator('GET', '/health/ready')).status;
    await until(async () => (await ready()) === 503);
    await service.stop();
    await assert.rejects(
      startTestService({}, { url: database.url, drop: async () => {} }),
      /schema 9999, which needs a program of schema 9999 or newer; this program is of schema \d+/,
    );
  } finally {
    await database.drop();
  }
});

/** Publishing, reading, acknowledging and clearing the change feed. */
async function feedWorks(service: TestService, clientId: string): Promise<void> {
  const { body } = await service.operator('GET', `/changes?wait=20&client_id=${clientId}`);
  assert.deepEqual(
    body.changes.map((change: { entity_id: string }) => change.entity_id),
    [clientId],
  );
  const acknowledged = await service.operator('PUT', '/change-consumers/core', { cursor: body.cursor });
  assert.equal(acknowledged.status, 200, acknowledged.text);
  assert.equal((await service.operator('DELETE', '/change-consumers/core')).status, 204);
  const { clock, backgroundPool } = service.service.context;
  await clearChanges(backgroundPool, new Date(clock.now().getTime() + 31 * 86_400_000), 30);
  const { rows } = await service.query('select count(*)::int as kept from change_order');
  assert.equal(rows[0].kept, 1, 'the newest keeps the place');
}

test('the role of the service may alter nothing and cannot change audit rows; the owner migrates', async () => {
  const database = await createEmptyDatabase();
  const word = randomBytes(4).toString('hex');
  const [owner, user] = [`owner_${word}`, `service_${word}`];
  const as = (name: string) => {
    const url = new URL(database.url);
    url.username = name;
    url.password = 'secret';
    return url.toString();
  };
  try {
    const name = new URL(database.url).pathname.slice(1);
    await query(database.url, `create role ${owner} login createrole password 'secret'`);
    await query(database.url, `alter database ${name} owner to ${owner}; alter schema public owner to ${owner}`);
    // On a server that other tests use, the roles may exist and belong to somebody else.
    await query(
      database.url,
      `do $$ begin
        if exists (select from pg_roles where rolname = 'lombard_client') then grant lombard_client to ${owner} with admin option; end if;
        if exists (select from pg_roles where rolname = 'lombard_service') then grant lombard_service to ${owner} with admin option; end if;
      end $$`,
    );
    const environment = { DATABASE_URL: as(user), LOMBARD_MIGRATE_DATABASE_URL: as(owner) };
    const migrated = await lombard(['migrate'], environment).ended;
    assert.equal(migrated.code, 0, migrated.stderr + migrated.stdout);
    const checked = await lombard(['migrate', '--check'], environment).ended;
    assert.deepEqual([checked.code, checked.stdout], [0, '']);

    const service = await startTestService(
      { ...environment, LOMBARD_MIGRATE: 'no' },
      { url: as(user), drop: async () => {} },
    );
    try {
      const made = await service.operator('POST', '/clients', { client_name: 'Acme Ltd' });
      assert.equal(made.status, 201, made.text);
      await feedWorks(service, made.body.client_id);
      for (const sql of [
        "update audit set actor = 'nobody'",
        'delete from audit',
        'truncate audit',
        'delete from audit_chain',
        'update audit_heads set floor = true',
        'delete from audit_default',
        'select note_audit_removal(now(), $$a$$, $$b$$, null)',
        'alter table payments add column x int',
        'create table x (y int)',
        'drop table attempts',
        'delete from migrations',
      ])
        await assert.rejects(service.query(sql), /permission denied|must be owner/, sql);
      const { rows } = await service.query('select count(*)::int as days from pg_inherits');
      assert.ok(rows[0].days > 3, 'partitions were made');
      const { clock, backgroundPool } = service.service.context;
      const dropped = await dropOldDays(backgroundPool, 2, new Date(clock.now().getTime() + 4 * 86_400_000));
      assert.equal(dropped.length, 2);
      const removed = await service.operator('GET', '/audit?actor=service:retention');
      assert.ok(
        removed.body.every((row: { after: { rows: number } }) => row.after.rows > 0),
        removed.text,
      );
      assert.deepEqual((await service.query("select create_audit_day('2031-01-01') as made")).rows, [{ made: true }]);
      await service.query("select set_config('lombard.audit', 'owner', false)");
      await assert.rejects(service.query("update audit set actor = 'nobody'"), /permission denied/);
    } finally {
      await service.stop();
    }
  } finally {
    await query(database.url, `reassign owned by ${owner} to current_user; drop owned by ${owner}, ${user}`).catch(
      () => {},
    );
    await database.drop();
    await query(new URL('/postgres', database.url).toString(), `drop role if exists ${user}, ${owner}`).catch(() => {});
  }
});

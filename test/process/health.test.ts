import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { databaseFault } from '../../src/database/fault.ts';
import { lombard, PORTS, printed } from '../world/command.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

let database: TestDatabase;
before(async () => {
  database = await createDatabase();
});
after(() => database.drop());

/** Changes a setting of the database for new connections, by one that may do so always. */
async function setting(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url, options: '-c default_transaction_read_only=off' });
  await client.connect();
  await client.query(sql.replace('DATABASE', `database ${client.database}`));
  await client.end();
}

describe('a process', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({}, { url: database.url, drop: async () => {} });
  });
  after(() => service.stop());
  const health = (path: string, method = 'GET') => call(`${service.service.healthUrl}${path}`, method);

  test('tells health and metrics without a token, on a listener of its own', async () => {
    assert.deepEqual((await health('/health/live')).body, { status: 'ok' });
    const ready = await health('/health/ready');
    assert.deepEqual([ready.status, ready.body], [200, { ready: true }]);
    assert.equal((await health('/health/ready', 'HEAD')).status, 200);
    const [unknown, changed] = [await health('/payments', 'POST'), await health('/metrics', 'POST')];
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'not_found']);
    assert.deepEqual([changed.status, changed.body.code], [405, 'method_not_allowed']);
    assert.equal(changed.headers.get('allow'), 'GET, HEAD');
    for (const { headers } of [ready, unknown, changed]) assert.ok(headers.get('x-request-id'));
    assert.equal((await call(`${service.operatorUrl}/metrics`, 'GET')).status, 200);
  });

  test('answers what is no request as every listener does', async () => {
    const { hostname, port } = new URL(service.service.healthUrl ?? '');
    for (const [sent, status, code] of [
      ['NOPE / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
      ['GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
      [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ] as const) {
      const socket = connect(Number(port), hostname);
      socket.write(sent);
      const answer = await text(socket);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
      assert.match(answer, /^x-request-id: [0-9a-f-]{36}\r$/im);
      assert.ok(answer.includes(`"code":"${code}"`), answer);
    }
  });

  test('has a gauge for each thing that can fall behind', async () => {
    const metrics = await health('/metrics');
    assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain/);
    for (const gauge of [
      'lombard_outbox_events',
      'lombard_outbox_oldest_age_seconds',
      'lombard_deliveries_due',
      'lombard_statements_waiting',
      'lombard_audit_unsealed_age_seconds',
      'lombard_totals_unrolled_age_seconds',
      'lombard_pool_connections{pool="request",state="idle"}',
      'lombard_pool_connections{pool="auth",state="busy"}',
      'lombard_pool_waiting{pool="background"}',
      'nodejs_eventloop_lag_seconds',
    ])
      assert.match(metrics.text, new RegExp(`^${gauge.replace(/[{}"]/g, '\\$&')} [0-9.e-]+$`, 'm'), gauge);
  });

  test('is not ready while the database takes no writes, says so, and comes back by itself', async () => {
    await setting('alter DATABASE set default_transaction_read_only = on');
    // Connections that were made before go on writing; the server ends them, as a failover does.
    await service.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'lombard%'",
    );
    const refused = await until(async () => {
      const ready = await health('/health/ready');
      return ready.body.reason === 'the database is read-only' && ready;
    });
    assert.equal(refused.status, 503);
    const change = await until(async () => {
      const answer = await service.operator('POST', '/clients', { client_name: 'Nobody' });
      return answer.body.details.includes('read-only') && answer;
    });
    assert.equal(change.status, 502);
    assert.equal(change.body.details, 'the database is read-only; try again in a moment');

    await setting('alter DATABASE set default_transaction_read_only = off');
    await until(async () => (await health('/health/ready')).status === 200);
    const works = await service.operator('POST', '/clients', { client_name: 'Somebody' });
    assert.equal(works.status, 201, works.text);
  });

  test('a check writes to the disk, so that a full one is noticed', async () => {
    await setting('alter DATABASE set temp_file_limit = 0');
    try {
      await service.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lombard-watch' and datname = current_database()",
      );
      await until(async () => /memory or disk/.test((await health('/health/ready')).body.reason ?? ''));
    } finally {
      await setting('alter DATABASE reset temp_file_limit');
    }
    await service.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lombard-watch' and datname = current_database()",
    );
    await until(async () => (await health('/health/ready')).status === 200);
  });
});

test('what the database says is told as what it is', () => {
  const cases: [object, string | undefined][] = [
    [{ code: '53100' }, 'the database is full: its disk has no space left'],
    [{ code: '25006' }, 'the database is read-only'],
    [{ code: '57P03' }, 'the database is starting or stopping'],
    [{ code: '40P01' }, 'the database could not complete this beside other changes'],
    [{ code: 'ECONNREFUSED' }, 'the database cannot be reached'],
    [{ message: 'Query read timeout' }, 'the database does not answer'],
    [{ code: '23514' }, undefined],
  ];
  for (const [error, fault] of cases) assert.equal(databaseFault(error), fault);
});

describe('the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-health-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const environment = (more: Record<string, string>) => ({
    ...PORTS,
    LOMBARD_DATA_DIR: join(folder, 'data'),
    DATABASE_URL: database.url,
    ...more,
  });
  const addresses = async (started: ReturnType<typeof lombard>) => {
    await printed(started, /"msg":"ready"/);
    const line = started
      .output()
      .split('\n')
      .find((one) => one.includes('"msg":"ready"')) as string;
    return JSON.parse(line) as { api: string; health: string };
  };

  test('told to stop, it is not ready at once and serves on for LOMBARD_DRAIN; a taken default port is no fault', async () => {
    const { LOMBARD_HEALTH_PORT: _, ...ports } = PORTS;
    const holder = createServer()
      .on('error', () => {})
      .listen(8091, '127.0.0.1');
    const started = lombard(['serve'], { ...environment({ LOMBARD_DRAIN: '5s' }), ...ports, LOMBARD_HEALTH_PORT: '' });
    try {
      const { api, health } = await addresses(started);
      assert.match(started.output(), /"level":40.*"taken":8091/);
      assert.equal((await call(`${health}/health/ready`, 'GET')).status, 200);
      started.child.kill('SIGTERM');
      await until(() => started.output().includes('"msg":"stopping"'));
      const ready = await call(`${health}/health/ready`, 'GET');
      assert.deepEqual([ready.status, ready.body], [503, { ready: false, reason: 'the service is stopping' }]);
      assert.equal((await call(`${api}/openapi.json`, 'GET')).status, 200);
    } finally {
      holder.close();
      started.child.kill('SIGTERM');
    }
    assert.equal((await started.ended).code, 0);
    assert.match(started.output(), /"msg":"stopped"/);
  });

  test('with LOMBARD_WORKERS one listener answers for all of them', async () => {
    const started = lombard(['serve'], environment({ LOMBARD_WORKERS: '2' }));
    try {
      const { health } = await addresses(started);
      assert.deepEqual((await call(`${health}/health/ready`, 'GET')).body, { ready: true });
      const { text } = await call(`${health}/metrics`, 'GET');
      for (const process of ['1', '2', 'primary'])
        assert.match(text, new RegExp(`^process_start_time_seconds\\{process="${process}"\\} \\d+`, 'm'));
      assert.match(text, /^lombard_pool_connections\{pool="request",state="idle",process="2"\} \d+$/m);
      assert.equal(text.match(/^# TYPE process_start_time_seconds /gm)?.length, 1);
    } finally {
      started.child.kill('SIGTERM');
    }
    assert.equal((await started.ended).code, 0);
  });
});

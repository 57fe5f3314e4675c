import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Command, lombard, PORTS, printed } from '../world/command.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { call } from '../world/service.ts';
import { until } from '../world/until.ts';

type Line = Record<string, unknown>;
type Listener = 'api' | 'auth' | 'operator' | 'trusted';

const folder = mkdtempSync(join(tmpdir(), 'lombard-logs-'));
let database: TestDatabase;
let started: Command;
let addresses: Record<Listener, string>;

const lines = () =>
  started
    .output()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

before(async () => {
  database = await createDatabase();
  const token = 'operator-token-of-the-tests';
  const environment = { ...PORTS, LOMBARD_DATA_DIR: folder, DATABASE_URL: database.url, LOMBARD_OPERATOR_TOKEN: token };
  started = lombard(['serve'], environment);
  await printed(started, /"msg":"ready"/);
  addresses = lines().find((line) => line.msg === 'ready') as Record<Listener, string>;
});
after(async () => {
  started.child.kill('SIGTERM');
  await started.ended;
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

test('every line has time, level, host and pid', () => {
  assert.ok(lines().length > 0);
  for (const line of lines()) {
    assert.equal(typeof line.time, 'number');
    assert.equal(typeof line.level, 'number');
    assert.equal(line.host, hostname());
    assert.equal(typeof line.pid, 'number');
  }
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const REFUSED: [string, Listener, string, string, Record<string, string>, Line][] = [
  ['a token', 'api', 'GET', '/payments', {}, { code: 'authentication_failed', status: 401, route: '/payments' }],
  ['an address', 'api', 'GET', '/nothing', {}, { code: 'not_found', status: 404 }],
  ['an address that cannot be read', 'api', 'GET', '/payments/%zz', {}, { code: 'not_found', status: 404 }],
  ['credentials', 'auth', 'POST', '/token', FORM, { code: 'invalid_client', status: 401 }],
  ['an operator token', 'operator', 'GET', '/clients', {}, { code: 'authentication_failed', status: 401 }],
];
for (const [what, listener, method, path, headers, expected] of REFUSED)
  test(`a refusal's line says why: ${what} (${listener})`, async () => {
    const id = `request-${what.replaceAll(/[ ']/g, '-')}`;
    const traced = { 'x-request-id': id, traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    await call(`${addresses[listener]}${path}`, method, { headers: { ...headers, ...traced } });
    const line = await until(() => lines().find((one) => one.request_id === id && one.msg === 'request'));
    assert.equal(lines().filter((one) => one.request_id === id).length, 1);
    for (const [name, value] of Object.entries({ ...expected, listener, trace_id: TRACE }))
      assert.equal(line[name], value, JSON.stringify(line));
    assert.equal(typeof line.details, 'string');
    assert.doesNotMatch(String(line.details), /redacted/);
  });

test('without a traceparent, or with one that is none, trace_id is null; what succeeds has no code', async () => {
  for (const [id, headers] of [
    ['untraced', {}],
    ['badly-traced', { traceparent: '00-xyz-1-01' }],
    ['zero-traced', { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }],
  ] as const) {
    await call(`${addresses.api}/openapi.json`, 'GET', { headers: { ...headers, 'x-request-id': id } });
    const line = await until(() => lines().find((one) => one.request_id === id));
    assert.deepEqual([line.trace_id, line.status, 'code' in line], [null, 200, false]);
  }
});

test('a request that is not HTTP has a line with its listener and a request id', async () => {
  const socket = connect(Number(new URL(addresses.api).port), '127.0.0.1');
  socket.end('NONSENSE\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  const line = await until(() => lines().find((one) => one.code === 'malformed_request'));
  assert.deepEqual([line.listener, typeof line.request_id, line.trace_id], ['api', 'string', null]);
});

/** Whose bodies are read in different ways. */
const CALLS = [
  ['auth', '/token', FORM['content-type']],
  ['auth', '/authenticate', FORM['content-type']],
  ['operator', '/clients', 'application/json'],
  ['operator', '/imports/clients', 'application/x-ndjson'],
] as const;

for (const [how, hangUp] of [
  ['closes', (socket: Socket) => socket.destroy()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
] as const)
  test(`a caller who ${how} the connection in the middle of a request is no error`, async () => {
    const before = lines().length;
    for (const [listener, path, type] of CALLS) {
      const socket = connect(Number(new URL(addresses[listener]).port), '127.0.0.1');
      const token = listener === 'operator' ? 'authorization: Bearer operator-token-of-the-tests\r\n' : '';
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\n${token}content-type: ${type}\r\ncontent-length: 1000\r\nexpect: 100-continue\r\n\r\n{"a`,
      );
      // The listener says so when it has read the head.
      assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 100 /);
      hangUp(socket);
      await once(socket, 'close');
    }
    const id = `after-one-who-${how}`;
    await call(`${addresses.operator}/nothing`, 'GET', { headers: { 'x-request-id': id } });
    await until(() => lines().some((line) => line.request_id === id));
    assert.deepEqual(
      lines()
        .slice(before)
        .filter((line) => Number(line.level) >= 40 || Number(line.status) >= 500),
      [],
    );
    // Each has a line, whatever the service did when its caller hung up.
    const hungUp = () =>
      lines()
        .slice(before)
        .filter(({ msg }) => /^the caller hung up/.test(String(msg)))
        .map(({ route }) => route);
    await until(() => isDeepStrictEqual(new Set(hungUp()), new Set(CALLS.map(([, path]) => path))), { seen: hungUp });
  });

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { PatientPool } from '../src/database/patient-pool.ts';
import { createPool } from '../src/database/pools.ts';
import { type EmbeddedPostgres, startEmbedded } from '../src/embedded/postgres.ts';
import { createWorld } from './world/client.ts';
import { log } from './world/database.ts';
import { listening } from './world/ports.ts';
import { call, startTestService, type TestService } from './world/service.ts';
import { until } from './world/until.ts';

/** Stands between the service and its database: lets through, or swallows everything, as a host that has gone silent does. */
class Wire {
  silent = false;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();

  async open(target: URL): Promise<string> {
    this.#server = createServer((inner) => {
      const outer = connect(Number(target.port), target.hostname);
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (data) => this.silent || to.write(data));
        from.on('close', () => to.destroy());
        from.on('error', () => to.destroy());
      }
    });
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String(await listening(this.#server));
    return url.toString();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server?.close();
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'lombard-gone-'));
const wire = new Wire();
let database: EmbeddedPostgres;
let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let token: string;

before(async () => {
  database = await startEmbedded({ dataDir, log, durable: false });
  const url = await wire.open(new URL(database.url));
  service = await startTestService({}, { url, drop: async () => {} });
  world = await createWorld(service);
  token = await world.signIn();
});
after(async () => {
  await service.stop();
  wire.close();
  await database.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** One route of each kind on every listener. */
const ROUTES: (() => Promise<{ status: number; body: { code?: string; error?: string } }>)[] = [
  () => service.client(token, 'GET', `/payments?client_id=${world.clientId}`),
  () => service.client(token, 'GET', `/payments/PAY000001?client_id=${world.clientId}`),
  () => service.client(token, 'GET', `/accounts/currency-accounts?client_id=${world.clientId}`),
  () => service.client(token, 'GET', `/quotes/fx-availability?client_id=${world.clientId}`),
  () => service.client('a'.repeat(43), 'GET', `/payments?client_id=${world.clientId}`),
  () => service.operator('GET', '/clients'),
  () => service.operator('POST', '/clients', { client_name: 'Nobody' }),
  () => world.pay(),
];

/** Milliseconds after which a caller would have waited in vain (docs/decisions.md, 1, 502). A machine that has other work is slow. */
const WITHIN = 30_000;

/** Health says it too, on its own listener and on the operator's. */
async function notReady(): Promise<void> {
  for (const url of [service.service.healthUrl, service.operatorUrl]) {
    const answer = await until(async () => {
      const ready = await call(`${url}/health/ready`, 'GET');
      return ready.status !== 200 && ready;
    });
    assert.equal(answer.status, 503);
    assert.equal(answer.body.ready, false);
    assert.match(answer.body.reason, /^the database (does not answer|cannot be reached)|no database connection/);
    assert.equal((await call(`${url}/health/live`, 'GET')).status, 200);
  }
}

async function allFail(): Promise<void> {
  await Promise.all(
    ROUTES.map(async (route, index) => {
      const began = performance.now();
      const answer = await route();
      const took = performance.now() - began;
      assert.equal(answer.status, 502, `route ${index}: ${answer.status}`);
      assert.equal(answer.body.code, 'integration_error');
      assert.ok(took < WITHIN, `route ${index} took ${took} ms`);
    }),
  );
}

/** Reads and writes work again, by themselves, within seconds; connections that died meanwhile may cost an answer each. */
async function recovers(): Promise<void> {
  const reads = () => service.client(token, 'GET', `/payments?client_id=${world.clientId}`);
  for (const [works, status] of [
    [reads, 200],
    [world.pay, 201],
  ] as const)
    await until(async () => {
      const answer = await works();
      if (answer.status !== status) assert.equal(answer.status, 502);
      return answer.status === status;
    });
  await until(async () => (await call(`${service.service.healthUrl}/health/ready`, 'GET')).status === 200);
}

test('a database that has gone silent: 502 within 3 s on every route, and back by itself', async () => {
  wire.silent = true;
  await allFail();
  await notReady();
  await allFail();
  wire.silent = false;
  await recovers();
});

test('a database that has stopped: 502 within 3 s on every route, the process lives, and back by itself', async () => {
  await database.stop();
  await allFail();
  await notReady();
  database = await startEmbedded({ dataDir, log, durable: false });
  await recovers();
});

test('a database that ends a connection in the moment in which it opens it: the query fails, the process lives', async () => {
  const message = (type: string, body: Buffer) => {
    const head = Buffer.alloc(5, type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const signedIn = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))];
  const ended = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'));
  // PostgreSQL's own answers (its documentation, Message Formats), in one packet.
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([...signedIn, ended])));
  });
  const port = await listening(server);
  const pool = createPool(`postgres://nobody@127.0.0.1:${port}/none`, log, { max: 1 });
  try {
    await assert.rejects(pool.query('select 1'));
  } finally {
    await pool.end();
    server.close();
  }
});

test('many callers take their turns, however long it takes; where nothing moves, the next one fails', async () => {
  const pool = createPool(database.url, log, { max: 1 });
  try {
    await Promise.all(Array.from({ length: 30 }, () => pool.query('select pg_sleep(0.1)')));
    const held = await pool.connect();
    await assert.rejects(pool.query('select 1'), /timeout exceeded/);
    held.release();
    await pool.query('select 1');
  } finally {
    await pool.end();
  }
});

test('a pool that is renewed gives nobody a connection from before, also one that was in use', async () => {
  const pool = createPool(database.url, log, { max: 1 }) as PatientPool;
  try {
    const process = async () => (await pool.query('select pg_backend_pid() as pid')).rows[0].pid;
    const former = await process();
    assert.equal(await process(), former);
    const inUse = await pool.connect();
    pool.renew();
    inUse.release();
    const renewed = await process();
    assert.notEqual(renewed, former);
    assert.equal(await process(), renewed);
  } finally {
    await pool.end();
  }
});

test('a sign-in while the database is gone is an error of the server, not of the caller', async () => {
  await database.stop();
  await assert.rejects(service.signIn(world.email, world.password), /50[023]|no token|failed/);
  database = await startEmbedded({ dataDir, log, durable: false });
  await recovers();
  assert.ok(await service.signIn(world.email, world.password));
});

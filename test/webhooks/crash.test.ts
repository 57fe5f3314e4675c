import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { transaction } from '../../src/database/database.ts';
import { startEmbedded } from '../../src/embedded/postgres.ts';
import { startService } from '../../src/service.ts';
import { readConfig } from '../../src/settings/config.ts';
import { Vault } from '../../src/values/crypto.ts';
import { createDays } from '../../src/webhooks/delivery/retention.ts';
import { notify } from '../../src/webhooks/notification.ts';
import { createSubscription } from '../../src/webhooks/subscription.ts';
import { createDatabase, log } from '../world/database.ts';
import { openPools } from '../world/dispatcher.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { until } from '../world/until.ts';
import { kill, startProcess } from '../world/worker-process.ts';

/** Nothing is lost. What dies, dies here for real: workers by SIGKILL, the database too. */

/** SQLSTATE of a lock that was not to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03';
const MASTER_KEY = Buffer.alloc(32, 7);
const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers.reverse()) await close();
});

/** Clients CLI0, CLI1, ... each with a subscription to its own path of the receiver. */
async function prepare(url: string, receiver: Receiver, clients: number): Promise<pg.Pool> {
  const { whole, pool, cell } = await openPools(url, log, { max: 3, background: true });
  closers.push(() => whole.end());
  const now = new Date();
  await pool.query(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at) values ('CON', 'c', 'c@example.com', 'none', false, now())`,
  );
  for (let index = 0; index < clients; index += 1) {
    await pool.query(
      `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow, payment_approvals_enabled,
         payment_creator_approval_enabled, created_at, cell) values ($1, 'c', 'enabled', true, false, 'simple', false, false, now(), $2)`,
      [`CLI${index}`, cell],
    );
    await transaction(pool, (tx) =>
      createSubscription(
        tx,
        { now, actor: 'test', requestId: 'test' },
        {
          clientId: `CLI${index}`,
          contactId: 'CON',
          url: receiver.url(`/CLI${index}`),
          types: ['PAYMENT_STATUS_CHANGE'],
          active: true,
          secret: 'secret',
        },
        { sandbox: true, brand: 'Service', vault: new Vault(MASTER_KEY), streamUrl: 'http://service.example' },
      ),
    );
  }
  return pool;
}

async function startWorker(url: string, events: number, clients: number, timeout = '5s'): Promise<ChildProcess> {
  const child = await startProcess('receivers/crashing-worker.ts', [url, String(events), String(clients), timeout]);
  closers.push(() => kill(child));
  return child;
}

/** Every committed event arrived, none that was not committed, each with one id and the same bytes every time. */
async function compare(pool: pg.Pool, receiver: Receiver): Promise<{ events: number; requests: number }> {
  const { rows } = await pool.query<{ body: string }>('select body from webhook_events');
  const committed = new Map(rows.map(({ body }) => [JSON.parse(body).id as string, body]));
  const ids = new Map<string, string>();
  for (const { body, headers } of receiver.received) {
    const text = body.toString();
    const { id } = JSON.parse(text);
    assert.equal(text, committed.get(id), 'the bytes of a committed event, and of nothing else');
    const notification = headers['x-service-notification-id'] ?? '';
    assert.equal(ids.get(id) ?? notification, notification, 'one id for all attempts');
    ids.set(id, notification);
  }
  assert.equal(ids.size, committed.size, 'every committed event arrived');
  assert.equal(new Set(ids.values()).size, ids.size);
  assert.ok(rows.every(({ body }) => !JSON.parse(body).rolledBack));
  return { events: committed.size, requests: receiver.received.length };
}

const empty = async (pool: pg.Pool) =>
  (
    await pool.query<{ left: number }>(
      'select (select count(*) from webhook_outbox) + (select count(*) from webhook_queue) as left',
    )
  ).rows[0]?.left === 0;

test('kill -9 at random moments while 1,200 events are written and delivered', async (t) => {
  const database = await createDatabase();
  closers.push(() => database.drop());
  // Some attempts fail, some answers are slow: the kills hit every state.
  const receiver = await Receiver.start((_got, response) => {
    setTimeout(() => {
      response.statusCode = randomInt(20) === 0 ? 500 : 200;
      response.end();
    }, randomInt(15));
  });
  closers.push(() => receiver.stop());
  const pool = await prepare(database.url, receiver, 5);
  const written = async () =>
    (await pool.query<{ count: number }>('select count(*) as count from webhook_events')).rows[0]?.count ?? 0;
  let kills = 0;
  while ((await written()) < 1_200 || kills < 6) {
    const worker = await startWorker(database.url, 500, 5);
    await pause(randomInt(20, 600));
    await kill(worker);
    kills += 1;
  }
  const last = await startWorker(database.url, 0, 5);
  await until(() => empty(pool), { what: 'everything is delivered' });
  last.kill('SIGTERM');
  await new Promise((resolve) => last.once('exit', resolve));
  const { events, requests } = await compare(pool, receiver);
  assert.ok(events >= 1_200);
  const { rows } = await pool.query<{ status: string; count: number }>(
    'select status, count(*) as count from notifications group by 1',
  );
  assert.deepEqual(rows, [{ status: 'delivered', count: events }]);
  t.diagnostic(`${events} events, ${kills} kills, ${requests} requests`);
});

test('two workers, one killed: the other takes over its deliveries within 5 s', async (t) => {
  const database = await createDatabase();
  closers.push(() => database.drop());
  const receiver = await Receiver.start(() => undefined);
  closers.push(() => receiver.stop());
  const pool = await prepare(database.url, receiver, 20);
  const [one, two] = [await startWorker(database.url, 0, 20), await startWorker(database.url, 0, 20)];
  await until(async () => (await pool.query('select from webhook_workers')).rowCount === 2);
  const write = () =>
    transaction(pool, async (tx) => {
      for (let index = 0; index < 10; index += 1) {
        await notify(tx, {
          clientId: `CLI${index * 2}`,
          type: 'PAYMENT_STATUS_CHANGE',
          body: JSON.stringify({ id: `${performance.now()} ${index}` }),
          now: new Date(),
        });
      }
    });
  const leases = async (pid: number | undefined) =>
    (
      await pool.query<{ notification_id: string }>(
        "select notification_id from webhook_queue where lease_owner = (select id from webhook_workers where name like '% ' || $1)",
        [String(pid)],
      )
    ).rows.map((row) => row.notification_id);
  // Both look at the queue; sooner or later each has some.
  await until(
    async () => {
      await write();
      return (await leases(one.pid)).length >= 5 && (await leases(two.pid)).length >= 5;
    },
    { what: 'both workers hold deliveries' },
  );
  const held = new Set(await leases(one.pid));
  receiver.behaviour = (_got, response) => void response.end();
  const killed = performance.now();
  await kill(one);
  const arrived = new Map<string, number>();
  await until(
    async () => {
      for (const got of receiver.received) {
        const id = got.headers['x-service-notification-id'] ?? '';
        if (got.at > killed && held.has(id) && !arrived.has(id)) arrived.set(id, got.at - killed);
      }
      return arrived.size === held.size;
    },
    { what: 'the dead worker’s deliveries arrive from the other' },
  );
  t.diagnostic(`${held.size} deliveries taken over, the last after ${Math.round(Math.max(...arrived.values()))} ms`);
  await until(() => empty(pool), { what: 'the rest is delivered' });
  await kill(two);
});

test('told to stop, a worker ends within 10 s and puts back what hangs', async () => {
  const database = await createDatabase();
  closers.push(() => database.drop());
  const receiver = await Receiver.start(() => undefined);
  closers.push(() => receiver.stop());
  const pool = await prepare(database.url, receiver, 2);
  const worker = await startWorker(database.url, 0, 2, '30s');
  const body = JSON.stringify({ id: 'hangs' });
  for (let index = 0; index < 30; index += 1) {
    await transaction(pool, (tx) =>
      notify(tx, { clientId: 'CLI0', type: 'PAYMENT_STATUS_CHANGE', body, now: new Date() }),
    );
  }
  await receiver.wait(16);
  const began = performance.now();
  worker.kill('SIGTERM');
  await new Promise((resolve) => worker.once('exit', resolve));
  assert.ok(performance.now() - began < 20_000, `${performance.now() - began} ms`);
  const { rows } = await pool.query(
    `select count(*) + (select count(*) from webhook_outbox) as waiting, count(lease_owner) as leased,
       (select count(*) from webhook_workers) as workers from webhook_queue`,
  );
  assert.deepEqual(rows, [{ waiting: 30, leased: 0, workers: 0 }]);
});

test('the database is killed and started again: nothing is lost', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-restart-'));
  closers.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const database = await startEmbedded({ dataDir, log });
  closers.push(() => database.stop());
  const config = readConfig({
    LOMBARD_ROLES: 'worker',
    LOMBARD_DATA_DIR: dataDir,
    LOMBARD_MASTER_KEY: MASTER_KEY.toString('base64'),
    LOMBARD_OPERATOR_TOKEN: 'operator-token-of-the-tests',
    LOMBARD_WEBHOOK_RETRIES: '100ms,200ms,500ms',
  });
  const service = await startService(config, log, { databaseUrl: database.url });
  closers.push(() => service.stop());
  const receiver = await Receiver.start((_got, response) => void setTimeout(() => response.end(), randomInt(10)));
  closers.push(() => receiver.stop());
  const pool = await prepare(database.url, receiver, 5);
  let writing = true;
  let written = 0;
  const writer = (async () => {
    while (writing) {
      written += 1;
      const body = JSON.stringify({ id: `n${written}` });
      await transaction(pool, (tx) =>
        notify(tx, { clientId: `CLI${written % 5}`, type: 'PAYMENT_STATUS_CHANGE', body, now: new Date() }),
      ).catch(() => pause(20));
    }
  })();
  // Also where an assertion fails: it would write on, and the run would not end.
  closers.push(() => {
    writing = false;
    return writer;
  });
  let before = 0;
  for (let restart = 0; restart < 2; restart += 1) {
    await until(async () => receiver.received.length > before + 20, { what: 'deliveries began' });
    before = receiver.received.length;
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 'SIGKILL');
    await until(async () => receiver.received.length > before + 200, { what: 'deliveries go on' });
  }
  writing = false;
  await writer;
  await until(() => empty(pool).catch(() => false), { what: 'everything is delivered' });
  const { events, requests } = await compare(pool, receiver);
  t.diagnostic(`${events} events, ${requests} requests`);
});

/** Makes the days as the retention does, which comes again where a lock was not to be had in time. */
async function makeDays(pool: pg.Pool, now: Date): Promise<void> {
  await until(async () => {
    try {
      await createDays(pool, now);
      return true;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
      return false;
    }
  });
}

test('a day gets its partitions while its events are written and delivered', async () => {
  const database = await createDatabase();
  closers.push(() => database.drop());
  const receiver = await Receiver.start((_got, response) => void response.end());
  closers.push(() => receiver.stop());
  const pool = await prepare(database.url, receiver, 5);
  const { whole, pool: maker } = await openPools(database.url, log, { max: 1, background: true });
  closers.push(() => whole.end());
  await startWorker(database.url, 0, 5);
  const writes: Promise<string>[] = [];
  const write = (now: Date) => {
    const event = {
      clientId: `CLI${writes.length % 5}`,
      type: 'PAYMENT_STATUS_CHANGE' as const,
      body: JSON.stringify({ id: String(writes.length) }),
      now,
    };
    const written = transaction(pool, (tx) => notify(tx, event));
    writes.push(
      written.then(
        () => 'written',
        (error: Error) => error.message,
      ),
    );
  };
  for (let day = 0; day < 8; day += 1) {
    const now = new Date(Date.UTC(2031, 0, 1 + 4 * day, 12));
    const made = pause(randomInt(60)).then(() => makeDays(maker, now));
    while (writes.length < 40 * (day + 1)) {
      write(now);
      await pause(2);
    }
    await made;
  }
  assert.deepEqual([...new Set(await Promise.all(writes))], ['written']);
  await until(() => empty(pool), { what: 'everything is delivered' });
  await compare(pool, receiver);
  const { rows } = await pool.query('select status, count(*) as count from notifications group by status');
  assert.deepEqual(rows, [{ status: 'delivered', count: writes.length }]);
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { transaction } from '../../src/database/database.ts';
import { windowAround } from '../../src/webhooks/day-window.ts';
import { writeResults } from '../../src/webhooks/delivery/attempt.ts';
import type { Delivery } from '../../src/webhooks/delivery/delivery.ts';
import { fanOut } from '../../src/webhooks/delivery/fan-out.ts';
import { createDays, dropOldDays } from '../../src/webhooks/delivery/retention.ts';
import { notify, notifyAll } from '../../src/webhooks/notification.ts';
import { redeliver, replay } from '../../src/webhooks/redelivery.ts';
import { isOnWorkers, ON_WORKERS, OWN_LOCKS, sessionsWaiting } from '../world/cells.ts';
import { createEngine, DatabaseProxy } from '../world/engine.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { nextRun } from '../world/runs.ts';
import { until } from '../world/until.ts';

/** What goes wrong between the engine and its database, or comes in between, caused for real: nothing is lost, nothing sticks. */

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers.reverse()) await close();
});
const NOTIFICATIONS = 'select status, attempts_count from notifications order by created_at, id';

async function setUp(clients = 1) {
  const engine = await createEngine(clients);
  closers.push(() => engine.stop());
  const receiver = await Receiver.start((_got, response) => void response.end());
  closers.push(() => receiver.stop());
  return { engine, receiver };
}

test('connections that fall silent are given up, and what they held goes on; so does the end of the service', async () => {
  const { engine, receiver } = await setUp();
  const proxy = await DatabaseProxy.start(engine.database.url);
  closers.push(() => proxy.stop());
  await engine.subscribe(receiver.url());
  const worker = engine.start({}, proxy.url, { queryTimeoutMs: 1_000 });
  await engine.event();
  await receiver.wait(1);
  proxy.silence();
  for (let event = 0; event < 5; event += 1) await engine.event();
  await receiver.wait(6, 20);
  proxy.silence();
  await engine.event();
  const began = performance.now();
  await worker.stop();
  assert.ok(performance.now() - began < 30_000);
});

test('a statement that the database finishes after its connection broke leaves no lease that nobody knows of', async () => {
  const { engine, receiver } = await setUp();
  const proxy = await DatabaseProxy.start(engine.database.url);
  closers.push(() => proxy.stop());
  const subscriptionId = await engine.subscribe(receiver.url());
  engine.start({}, proxy.url);
  await engine.until('select count(*) as count from webhook_workers', (row) => row.count === 1);
  const now = engine.clock.now();
  const inTheWay = await engine.pool.connect();
  try {
    // An uncommitted transaction makes the notification that the engine is about to make. The engine waits, with the event out of the outbox.
    await inTheWay.query('begin');
    await inTheWay.query(
      `insert into notifications (id, client_id, subscription_id, event_id, type, status, created_at)
       values (notification_id($3, $1, $2), 'CLI0', $1, $3, 'PAYMENT_STATUS_CHANGE', 'pending', $2)`,
      [subscriptionId, now, engine.firstEvent],
    );
    await transaction(engine.pool, (tx) =>
      notify(tx, { clientId: 'CLI0', type: 'PAYMENT_STATUS_CHANGE', body: '{}', now }),
    );
    await until(async () => (await sessionsWaiting(engine.pool)) === 1);
    proxy.break('lombard-webhooks');
    // It has looked for such leases once before there is one.
    await nextRun('webhook intake', 2);
    await inTheWay.query('rollback');
  } finally {
    inTheWay.release();
  }
  await receiver.wait(1, 20);
  await engine.until(NOTIFICATIONS, (row) => row.status === 'delivered');
});

test('a worker that gets another id in the middle of a statement sends nothing under the former one', async () => {
  const { engine, receiver } = await setUp();
  await engine.subscribe(receiver.url());
  engine.start();
  const { id } = await engine.until('select id from webhook_workers', () => true);
  await transaction(engine.pool, async (tx) => {
    await tx.query('lock table notifications in access exclusive mode');
    await engine.event();
    await engine.until(
      `select count(*) as count from pg_locks where not granted and relation = 'notifications'::regclass and ${OWN_LOCKS}`,
      (row) => row.count === 1,
    );
    // As another worker does that finds it dead.
    await engine.query('delete from webhook_workers where id = $1', [id]);
    await engine.until('select id from webhook_workers', (row) => row.id !== id);
  });
  await engine.until(NOTIFICATIONS, (row) => row.status === 'delivered');
  assert.deepEqual(await engine.query('select from webhook_queue'), []);
  assert.equal(receiver.received.length, 1);
});

test('a subscription that is activated while nobody listens gets its backlog', async () => {
  const { engine, receiver } = await setUp();
  receiver.behaviour = (_got, response) => {
    response.statusCode = receiver.received.length === 1 ? 500 : 200;
    response.end();
  };
  const id = await engine.subscribe(receiver.url());
  engine.start({ LOMBARD_WEBHOOK_RETRIES: '10s' });
  await engine.event();
  await receiver.wait(1);
  await engine.patch(id, { active: false });
  engine.clock.offset += 20_000;
  await engine.looks();
  assert.equal(receiver.received.length, 1);
  const listening = "from pg_stat_activity where application_name = 'lombard-hearing' and datname = current_database()";
  await engine.query(`select pg_terminate_backend(pid) ${listening}`);
  await until(async () => (await engine.query(`select ${listening}`)).length === 0);
  await engine.patch(id, { active: true });
  await receiver.wait(2);
});

test('what cannot be signed with its secret is not sent; once it can be, it is', async (t) => {
  const { engine, receiver } = await setUp();
  // There the service announces a changed subscription, and nobody what a test writes.
  if (await isOnWorkers(engine.pool)) return t.skip(ON_WORKERS);
  const id = await engine.subscribe(receiver.url());
  await engine.query("update subscriptions set secret = secret || '\\x00'::bytea");
  const other = await engine.subscribe(receiver.url('/other'));
  engine.start();
  await engine.event();
  await receiver.wait(1);
  await engine.looks();
  assert.deepEqual(
    receiver.received.map((got) => got.path),
    ['/other'],
  );
  await engine.query(
    'update subscriptions set secret = (select secret from subscriptions where id = $2) where id = $1',
    [id, other],
  );
  await receiver.wait(2);
});

test('the answer of a former address switches nothing off', async () => {
  const { engine, receiver } = await setUp();
  const { promise: changed, resolve: answerNow } = Promise.withResolvers<void>();
  receiver.behaviour = async (got, response) => {
    response.statusCode = got.path === '/old' ? 410 : 204;
    if (got.path === '/old') await changed;
    response.end();
  };
  const id = await engine.subscribe(receiver.url('/old'));
  engine.start();
  await engine.event();
  await receiver.wait(1);
  await engine.patch(id, { url: receiver.url('/new'), active: true });
  const judged = nextRun('webhook switch-off');
  answerNow();
  await engine.until(NOTIFICATIONS, (row) => row.status === 'failed');
  await judged;
  await engine.event();
  await receiver.wait(2);
  const rows = await engine.query('select active, disabled_reason from subscriptions');
  assert.deepEqual(rows, [{ active: true, disabled_reason: null }]);
});

test('what is asked for again during its last attempt is sent again', async () => {
  const { engine, receiver } = await setUp();
  receiver.behaviour = (_got, response) => {
    response.statusCode = receiver.received.length < 3 ? 500 : 200;
    setTimeout(() => response.end(), 400);
  };
  await engine.subscribe(receiver.url());
  engine.start({ LOMBARD_WEBHOOK_RETRIES: '100ms' });
  await engine.event();
  await receiver.wait(2);
  const [{ id }] = (await engine.query('select id from notifications')) as [{ id: string }];
  await transaction(engine.pool, (tx) => redeliver(tx, engine.act(), { id }));
  await receiver.wait(3);
  const row = await engine.until(NOTIFICATIONS, (one) => one.status !== 'pending');
  assert.deepEqual(row, { status: 'delivered', attempts_count: 3 });
  assert.deepEqual(await engine.query('select from webhook_queue'), []);
});

test('a last failure that is written while it is asked for again is not given up, and held by nobody', async () => {
  const { engine } = await setUp();
  await engine.subscribe('http://127.0.0.1:9/');
  await engine.event();
  const now = engine.clock.now();
  const window = windowAround(now);
  const worker = 77;
  await engine.query(
    "insert into webhook_workers (id, name, started_at) overriding system value values (77, 'test', now())",
  );
  const taking = { worker, window, maxEvents: 10, maxNotifications: 10, defaultRoom: 10, rooms: new Map(), now };
  const [delivery] = (await fanOut(engine.pool, taking)).deliveries as [Delivery];
  await engine.query('update webhook_queue set attempts = 1, round_attempts = 1');
  const outcome = { statusCode: 500, headers: {}, body: '', reason: null, durationMs: 1 };
  const failed = {
    worker,
    delivery: { ...delivery, attempts: 1, roundAttempts: 1 },
    deliveryId: randomUUID(),
    startedAt: now,
    outcome,
    status: 'failed' as const,
    dueAt: null,
    asked: false,
    now,
  };
  let written: Promise<void> | undefined;
  await transaction(engine.pool, async (tx) => {
    await redeliver(tx, engine.act(), { id: delivery.id });
    written = writeResults(engine.pool, { worker, window, results: [failed] });
    await until(async () => (await sessionsWaiting(engine.pool)) === 1);
  });
  await written;
  assert.deepEqual(await engine.query('select lease_owner, attempts, round_attempts from webhook_queue'), [
    { lease_owner: null, attempts: 2, round_attempts: 0 },
  ]);
  assert.deepEqual(await engine.query(NOTIFICATIONS), [{ status: 'pending', attempts_count: 2 }]);
});

test('thousands that end at once, when what was in their way is over, are all tried', async () => {
  const { engine, receiver } = await setUp(4);
  const answers: (() => void)[] = [];
  receiver.behaviour = (_got, response) => void answers.push(() => response.end());
  await engine.subscribe(receiver.url());
  await engine.query(
    `insert into subscriptions (client_id, contact_id, url, active, types, created_at, updated_at)
     select 'CLI' || 1 + n % 3, 'CON', 'https://10.0.0.1/', true, '{PAYMENT_STATUS_CHANGE}', now(), now() from generate_series(1, 3000) n`,
  );
  engine.start({}, undefined, { maxInFlight: 1 });
  await engine.event();
  await receiver.wait(1);
  for (const client of ['CLI1', 'CLI2', 'CLI3']) await engine.event(client);
  await engine.until(
    'select count(*) as count from webhook_queue where lease_owner is not null',
    (row) => row.count === 3_001,
  );
  for (const answer of answers) answer();
  await engine.until(
    "select count(*) as count from attempts where reason = 'blocked_address'",
    (row) => row.count === 3_000,
  );
});

test('a client with many subscriptions takes few events at a time, beside another that takes all of its own', async () => {
  const { engine } = await setUp(2);
  await engine.query(
    `insert into subscriptions (client_id, contact_id, url, active, types, created_at, updated_at)
     select 'CLI0', 'CON', 'https://10.0.0.1/', true, '{PAYMENT_STATUS_CHANGE}', now(), now() from generate_series(1, 1000) n`,
  );
  await engine.subscribe('https://10.0.0.1/', { clientId: 'CLI1' });
  const now = engine.clock.now();
  const event = (clientId: string) => ({ clientId, type: 'PAYMENT_STATUS_CHANGE' as const, body: '{}', now });
  const events = [...Array(100).fill(event('CLI0')), ...Array(50).fill(event('CLI1'))];
  await transaction(engine.pool, (tx) => notifyAll(tx, events));
  const limits = { maxEvents: 500, maxNotifications: 5_000, defaultRoom: 10, rooms: new Map() };
  const { taken, more } = await fanOut(engine.pool, { worker: 1, window: windowAround(now), now, ...limits });
  assert.deepEqual([taken, more], [52, true]);
  assert.deepEqual(await engine.query('select count(*) as count from notifications'), [{ count: 2_050 }]);
});

test('a client with many subscriptions to something else is not slowed by them', async () => {
  const { engine, receiver } = await setUp();
  await engine.subscribe(receiver.url());
  await engine.query(
    `insert into subscriptions (client_id, contact_id, url, active, types, created_at, updated_at)
     select 'CLI0', 'CON', 'https://10.0.0.1/', true, '{TRADE_STATUS_CHANGE}', now(), now() from generate_series(1, 999)`,
  );
  engine.start();
  const events = Array.from({ length: 1_500 }, () => ({
    clientId: 'CLI0',
    type: 'PAYMENT_STATUS_CHANGE' as const,
    body: '{}',
    now: engine.clock.now(),
  }));
  await transaction(engine.pool, (tx) => notifyAll(tx, events));
  // Five at each look would take 30 s.
  await receiver.wait(1_500, 25);
});

test('a replay holds up no result: what is being sent counts, and is not even locked', async () => {
  const { engine, receiver } = await setUp();
  const answers: (() => void)[] = [];
  receiver.behaviour = (_got, response) => void answers.push(() => response.end());
  const subscriptionId = await engine.subscribe(receiver.url());
  engine.start();
  await engine.event();
  await receiver.wait(1);
  await transaction(engine.pool, async (tx) => {
    const period = { since: new Date(Date.now() - 60_000), until: new Date() };
    const { count } = await replay(tx, engine.act(), { subscriptionId, ...period, onlyFailed: false });
    assert.equal(count, 1);
    for (const answer of answers) answer();
    await engine.until(NOTIFICATIONS, (row) => row.status === 'delivered');
  });
});

test('a worker that joins another keeps the cap: no more at once than one would send', async () => {
  const { engine, receiver } = await setUp();
  let open = 0;
  let most = 0;
  receiver.behaviour = (_got, response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end();
    }, 600);
  };
  await engine.subscribe(receiver.url());
  // Far more than an answer takes on a busy machine: what is given up makes room before the receiver has ended it.
  const env = { LOMBARD_WEBHOOK_CONCURRENCY: '6', LOMBARD_WEBHOOK_TIMEOUT: '5s' };
  engine.start(env);
  await engine.until('select count(*) as count from webhook_workers', (row) => row.count === 1);
  let events = 0;
  for (; events < 60; events += 1) await engine.event();
  await receiver.wait(6);
  engine.start(env);
  const owners = 'select count(distinct lease_owner) as owners from webhook_queue where lease_owner is not null';
  // A process may need longer to start than these events take.
  await until(async () => {
    await engine.event();
    events += 1;
    return (await engine.query(owners))[0]?.owners === 2;
  });
  await receiver.wait(events, 30);
  assert.equal(most, 6);
});

test('notifications of one transaction are listed in the order of their events', async () => {
  const { engine, receiver } = await setUp();
  await engine.subscribe(receiver.url());
  engine.start();
  const now = engine.clock.now();
  const events = Array.from({ length: 40 }, (_, n) => ({
    clientId: 'CLI0',
    type: 'PAYMENT_STATUS_CHANGE' as const,
    body: String(n),
    now,
  }));
  await transaction(engine.pool, (tx) => notifyAll(tx, events));
  await receiver.wait(40);
  const rows = await engine.query(
    'select e.body from notifications n join webhook_events e on e.id = n.event_id order by n.created_at, n.id',
  );
  assert.deepEqual(
    rows.map((row) => Number(row.body)),
    events.map((_, n) => n),
  );
});

test('a day of which the default partition holds much stays there, and goes with its retention', async () => {
  const { engine } = await setUp();
  const now = new Date('2031-03-04T12:00:00Z');
  const count = async () =>
    // A worker of a cluster names the schema, and adds the number of its shard.
    (
      await engine.query(
        `select substring(tableoid::regclass::text from 'webhook_events_[a-z]+') as name, count(*) as count from webhook_events group by 1`,
      )
    )[0];
  await engine.query(
    `insert into webhook_events (client_id, type, body, created_at)
     select 'CLI0', 'PAYMENT_STATUS_CHANGE', '{}', $1 from generate_series(1, 12000)`,
    [now],
  );
  await createDays(engine.pool, now);
  assert.deepEqual(await count(), { name: 'webhook_events_default', count: 12_000 });
  await dropOldDays(engine.pool, 90, new Date('2031-06-02T12:00:00Z'));
  assert.equal((await count())?.count, 12_000);
  await dropOldDays(engine.pool, 90, new Date('2031-06-03T12:00:00Z'));
  assert.equal(await count(), undefined);
});

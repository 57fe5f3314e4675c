import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { transaction } from '../../src/database/database.ts';
import { Endpoint } from '../../src/webhooks/delivery/endpoint.ts';
import { ping } from '../../src/webhooks/ping.ts';
import { type Replay, redeliver, replay } from '../../src/webhooks/redelivery.ts';
import { createEngine } from '../world/engine.ts';
import { type Behaviour, type Received, Receiver } from '../world/receivers/receiver.ts';

/** A receiver was down and works again: what waits for it comes at once, in order, as many at a time as it may get. */

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers.reverse()) await close();
});

/** What would come only in an hour, unless something makes it due. */
const RETRIES = { LOMBARD_WEBHOOK_RETRIES: '1h,2h,5h' };
const ONE_AT_A_TIME = { ...RETRIES, LOMBARD_WEBHOOK_CONCURRENCY: '1' };
const PENDING = "select count(*)::int as count from notifications n where n.status = 'pending'";
const WAITING = `select count(*)::int as count from webhook_queue where lease_owner is null and attempts > 0`;
const down: Behaviour = (_got, response) => void response.writeHead(500).end();
const works: Behaviour = (_got, response) => void response.end();
const idOf = (got: Received) => got.headers['x-service-notification-id'] as string;

/** An engine with a subscription whose receiver is down: `events` of them have been tried once, and wait. */
async function setUp(events: number, env: Record<string, string> = ONE_AT_A_TIME) {
  const engine = await createEngine();
  closers.push(() => engine.stop());
  const receiver = await Receiver.start(down);
  closers.push(() => receiver.stop());
  const subscriptionId = await engine.subscribe(receiver.url());
  const worker = engine.start(env);
  for (let event = 0; event < events; event += 1) await engine.event();
  await engine.until(WAITING, ({ count }) => count === events);
  return {
    engine,
    receiver,
    subscriptionId,
    worker,
    ping: () =>
      transaction(engine.pool, (tx) => ping(tx, { clientId: 'CLI0', subscriptionId }, engine.clock.now())).then(() =>
        worker.wake(),
      ),
    replay: (more: Partial<Replay> = {}) =>
      transaction(engine.pool, (tx) => {
        const since = new Date(engine.clock.now().getTime() - 3_600_000);
        const input = { subscriptionId, since, until: engine.clock.now(), onlyFailed: false, ...more };
        return replay(tx, engine.act(), input);
      }),
    /** Ids of the notifications, in the order of their events. */
    ids: async () =>
      (await engine.query("select id from notifications where type <> 'PING' order by event_id")).map(
        ({ id }) => id as string,
      ),
    delivered: () => engine.until(PENDING, ({ count }) => count === 0),
  };
}

test('a replay makes pending notifications of its range due at once, in order, and counts them', async () => {
  const { engine, receiver, replay, ids, delivered } = await setUp(5);
  const all = await ids();
  const [, second] = (await engine.query('select created_at from notifications order by event_id')) as {
    created_at: Date;
  }[];
  assert.deepEqual(await replay({ until: (second as { created_at: Date }).created_at }), { count: 1 });
  await receiver.wait(6);
  await engine.until(WAITING, ({ count }) => count === 5);
  receiver.behaviour = works;
  assert.deepEqual(await replay(), { count: 5 });
  await delivered();
  assert.deepEqual(receiver.received.slice(6).map(idOf), all);
  assert.deepEqual(await replay({ onlyFailed: true }), { count: 0 });
});

test('a replay of what failed counts what fails so far, and not what was never tried', async () => {
  const { engine, receiver, subscriptionId, replay, delivered } = await setUp(2);
  await engine.patch(subscriptionId, { active: false });
  receiver.behaviour = works;
  assert.deepEqual(await replay({ onlyFailed: true }), { count: 2 });
  await engine.event();
  await engine.until('select count(*)::int as count from webhook_outbox', ({ count }) => count === 0);
  assert.deepEqual(await replay({ onlyFailed: true }), { count: 0 }, 'they are due, and the other one has not failed');
  await engine.patch(subscriptionId, { active: true });
  await delivered();
  assert.equal(receiver.received.length, 4);
});

test('what is asked for again during an attempt is tried again at once where that fails, the first attempt of a round too', async () => {
  const { engine, receiver, replay, ids, delivered } = await setUp(1);
  let fail = () => {};
  receiver.behaviour = (_got, response) => {
    fail = () => void response.writeHead(500).end();
  };
  assert.deepEqual(await replay(), { count: 1 });
  await receiver.wait(2);
  receiver.behaviour = works;
  const [id] = (await ids()) as [string];
  await transaction(engine.pool, (tx) => redeliver(tx, engine.act(), { id }));
  fail();
  await delivered();
  assert.equal(receiver.received.length, 3);
});

test('the first delivery that succeeds makes what waits due, in order and never more at once than allowed', async () => {
  const { engine, receiver, ids, delivered } = await setUp(8, { ...RETRIES, LOMBARD_WEBHOOK_CONCURRENCY: '2' });
  let [open, most] = [0, 0];
  receiver.behaviour = (_got, response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end();
    }, 20);
  };
  await engine.event();
  await delivered();
  const [first, ...others] = receiver.received.slice(8).map(idOf);
  const all = await ids();
  assert.equal(first, all.at(-1));
  assert.deepEqual(others.sort(), all.slice(0, -1));
  assert.equal(most, 2);
});

test('a ping that succeeds makes what waits due, in order', async () => {
  const { receiver, ping, ids, delivered } = await setUp(4);
  receiver.behaviour = works;
  await ping();
  await delivered();
  assert.deepEqual(receiver.received.slice(5).map(idOf), await ids());
});

test('a ping of a worker that has seen no failure wakes what another one left', async () => {
  const { engine, receiver, worker, subscriptionId, delivered } = await setUp(3);
  await worker.stop();
  receiver.behaviour = works;
  const other = engine.start(ONE_AT_A_TIME);
  await transaction(engine.pool, (tx) => ping(tx, { clientId: 'CLI0', subscriptionId }, engine.clock.now()));
  other.wake();
  await delivered();
});

test('a subscription that is switched on again begins with what waits', async () => {
  const { engine, receiver, subscriptionId, delivered } = await setUp(3);
  await engine.patch(subscriptionId, { active: false });
  receiver.behaviour = works;
  await engine.patch(subscriptionId, { active: true });
  await delivered();
});

test('what fails while others succeed is tried early once in each wait, and keeps its schedule', async () => {
  const { engine, receiver, ids } = await setUp(1);
  const [bad] = await ids();
  receiver.behaviour = (got, response) => void response.writeHead(idOf(got) === bad ? 500 : 200).end();
  const tries = () => receiver.received.filter((got) => idOf(got) === bad).length;
  const state = "select attempts, round_attempts, due_at > now() + interval '50 minutes' as later from webhook_queue";
  await engine.event();
  await engine.until(state, ({ attempts, later }) => attempts === 2 && later === true);
  const delivered = "select count(*)::int as count from notifications where status = 'delivered'";
  // Not by what is pending: an event that is not fanned out yet is not pending either. The first event was delivered before them.
  for (let others = 2; others <= 4; others += 1) {
    await engine.event();
    await engine.until(delivered, ({ count }) => count === others);
  }
  // A worker that has seen nothing of it takes the recovery for the first one.
  await engine.until('select failing_since from webhook_endpoints', ({ failing_since: since }) => since === null);
  assert.deepEqual(await engine.query(state), [{ attempts: 2, round_attempts: 1, later: true }]);
  assert.equal(tries(), 2);
  // Its wait is over; afterwards a success makes it due once more. That may be one of the last second, which is still to be looked at.
  await engine.query("update webhook_queue set due_at = now() - interval '1 minute'");
  await engine.until(state, ({ attempts }) => Number(attempts) >= 3);
  await engine.event();
  await engine.until(state, ({ attempts, round_attempts: round }) => attempts === 4 && round === 2);
});

test('a wait that the receiver asked for holds, unless somebody asks for the notification', async () => {
  const { engine, receiver, ping, ids } = await setUp(0);
  receiver.behaviour = (_got, response) => void response.writeHead(503, { 'retry-after': '3600' }).end();
  await engine.event();
  await engine.until(WAITING, ({ count }) => count === 1);
  receiver.behaviour = works;
  await ping();
  await engine.event();
  await engine.until(PENDING, ({ count }) => count === 1);
  await engine.until('select succeeded_at from webhook_endpoints', ({ succeeded_at: at }) => at !== null);
  assert.deepEqual((await engine.query(WAITING))[0], { count: 1 });
  const [asked] = (await ids()) as [string];
  await transaction(engine.pool, (tx) => redeliver(tx, engine.act(), { id: asked }));
  await engine.until(PENDING, ({ count }) => count === 0);
});

test('an endpoint has recovered when an attempt succeeds that began after its last failure', () => {
  const endpoint = new Endpoint('of a test');
  const attempts: [success: boolean, durationMs: number, endedMs: number, recovered: boolean][] = [
    [true, 10, 100, false],
    [false, 10, 200, false],
    // Both were on their way at the same time.
    [true, 50, 210, false],
    [false, 10, 220, false],
    [true, 5, 230, true],
    [true, 5, 240, false],
  ];
  for (const [success, durationMs, endedMs, recovered] of attempts)
    assert.equal(endpoint.record(success, durationMs, endedMs), recovered, `at ${endedMs}`);
});

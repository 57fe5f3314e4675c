import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSubscriber } from '../world/graphql.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** What a replay sends: what the subscription had, and nothing of before it existed or of other types. */

const REPLAY = 'mutation ($input: ReplayNotificationsInput!) { replayNotifications(input: $input) { count } }';
const PATCH =
  'mutation ($id: UUID!, $patch: SubscriptionPatch!) { updateSubscription(input: {id: $id, patch: $patch}) { subscription { id } } }';
const SINCE = '2026-01-01T00:00:00Z';

let service: TestService;
let world: Awaited<ReturnType<typeof createSubscriber>>;
let receiver: Receiver;
before(async () => {
  service = await startTestService();
  world = await createSubscriber(service);
  receiver = await Receiver.start();
});
after(async () => {
  await service.stop();
  await receiver.stop();
});

/** Creates a payment: two events. Resolves once the engine has seen them. */
async function pay(): Promise<void> {
  assert.equal((await world.pay()).status, 201);
  const outbox = 'select from webhook_outbox where client_id = $1';
  await until(async () => (await service.query(outbox, [world.clientId])).rowCount === 0);
}

async function change(id: string, patch: object): Promise<void> {
  assert.equal((await world.graphql(PATCH, { id, patch })).errors, undefined);
}

/** How many each interface says that it sends again. */
async function counts(subscriptionId: string): Promise<[graphql: number, operator: number]> {
  const { data } = await world.graphql(REPLAY, { input: { subscriptionId, since: SINCE } });
  const answer = await service.operator('POST', `/subscriptions/${subscriptionId}/replay`, { since: SINCE });
  assert.equal(answer.status, 202);
  return [data.replayNotifications.count, answer.body.count];
}

test('nothing of the time before the subscription existed; what it missed while it was inactive', async () => {
  for (let payment = 0; payment < 3; payment += 1) await pay();
  const fields = { url: receiver.url('/inactive'), types: ['PAYMENT_STATUS_CHANGE'], active: false };
  const id = await world.subscribe(fields);
  await pay();
  // Both are there after the first replay: the second one counts those that wait.
  assert.deepEqual(await counts(id), [2, 2]);
  const { rows } = await service.query(
    "select after from audit where entity_id = $1 and after->>'action' = 'replay' limit 1",
    [id],
  );
  assert.equal(rows[0].after.count, 2);
  await change(id, { active: true });
  await receiver.wait(2);
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ['/inactive', '/inactive'],
  );
});

test('only the types that it had at that time, whatever it has now', async () => {
  const id = await world.subscribe({ url: receiver.url('/types'), types: ['TRADE_STATUS_CHANGE'], active: false });
  await pay();
  await change(id, { types: ['PAYMENT_STATUS_CHANGE', 'TRADE_STATUS_CHANGE'] });
  assert.deepEqual(await counts(id), [0, 0]);
  await pay();
  await change(id, { url: receiver.url('/moved') });
  await change(id, { types: [] });
  await pay();
  await change(id, { types: ['TRADE_STATUS_CHANGE'] });
  assert.deepEqual(await counts(id), [2, 2]);
});

test('what was made for it counts, also where its event is older', async () => {
  const id = await world.subscribe({ url: receiver.url('/made'), types: ['DEBIT_TRANSACTION'] });
  await world.history(id, 3);
  assert.deepEqual(await counts(id), [3, 3]);
});

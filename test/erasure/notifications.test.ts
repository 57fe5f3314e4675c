import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSubscriber } from '../world/graphql.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { nextRun } from '../world/runs.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Notifications that carry a person's name: what was not delivered goes with the person, whatever became of it. */

const PATCH =
  'mutation ($id: UUID!, $patch: SubscriptionPatch!) { updateSubscription(input: {id: $id, patch: $patch}) { subscription { id } } }';
const SINCE = '2020-01-01T00:00:00Z';
const TYPE = 'PAYMENT_STATUS_CHANGE';

let service: TestService;
let receiver: Receiver;
before(async () => {
  service = await startTestService({ LOMBARD_WEBHOOK_RETRIES: '1s' });
  receiver = await Receiver.start();
});
after(async () => {
  await service.stop();
  await receiver.stop();
});

type Subscriber = Awaited<ReturnType<typeof createSubscriber>>;

/** A payment of a person whom the events name. Resolves once the events have left the outbox. */
async function payAs(world: Subscriber, name: string): Promise<string> {
  const { contactId } = await world.hire(name);
  const paid = await world.pay({ contact_id: contactId });
  assert.equal(paid.status, 201, paid.text);
  const outbox = 'select from webhook_outbox where client_id = $1';
  await until(async () => (await service.query(outbox, [world.clientId])).rowCount === 0);
  return contactId;
}

async function begin(contactId: string): Promise<string> {
  await service.operator('PATCH', `/contacts/${contactId}`, { status: 'disabled' });
  return (await service.operator('POST', `/contacts/${contactId}/erase`)).body.erasure_id;
}

const isDone = async (erasure: string) => (await service.operator('GET', `/erasures/${erasure}`)).body.state === 'done';

async function erase(contactId: string): Promise<void> {
  const erasure = await begin(contactId);
  await until(() => isDone(erasure));
}

async function notificationsOf(id: string): Promise<{ id: string; status: string; body: string }[]> {
  const list = await service.operator('GET', '/notifications?page_size=1000');
  return list.body.filter((each: { subscription_id: string }) => each.subscription_id === id);
}

/** The bodies of a client's events with a name. */
async function bodiesWith(world: Subscriber, name: string): Promise<number> {
  const { rows } = await service.query(
    'select count(*)::int as n from webhook_events where client_id = $1 and strpos(body, $2) > 0',
    [world.clientId, name],
  );
  return rows[0].n;
}

test('what has failed is cancelled and emptied, and cannot be sent again', async () => {
  const name = 'Failed Quastenberg';
  const world = await createSubscriber(service);
  const id = await world.subscribe({ types: [TYPE], active: true, url: 'http://127.0.0.1:9/' });
  const contactId = await payAs(world, name);
  assert.ok((await bodiesWith(world, name)) > 0);
  await until(async () => (await notificationsOf(id)).every(({ status }) => status === 'failed'));
  await erase(contactId);
  assert.equal(await bodiesWith(world, name), 0);
  const gone = (await notificationsOf(id)).filter(({ body }) => body === '');
  assert.ok(gone.length > 0);
  for (const notification of gone) {
    assert.equal(notification.status, 'cancelled');
    const again = await service.operator('POST', `/notifications/${notification.id}/redeliver`);
    assert.deepEqual([again.status, again.body.code], [409, 'transition_not_allowed']);
  }
});

test('what a subscription missed while it was inactive is emptied too, even where another one got it', async () => {
  const name = 'Missed Quastenberg';
  const world = await createSubscriber(service);
  const off = await world.subscribe({ types: [TYPE], active: true, url: receiver.url('/off') });
  await world.graphql(PATCH, { id: off, patch: { active: false } });
  const on = await world.subscribe({ types: [TYPE], active: true, url: receiver.url('/on') });
  const contactId = await payAs(world, name);
  await until(async () => (await notificationsOf(on)).every(({ status }) => status === 'delivered'));
  await erase(contactId);
  assert.equal(await bodiesWith(world, name), 0);
  assert.ok((await notificationsOf(on)).every(({ status }) => status === 'delivered'));
  await world.graphql(PATCH, { id: off, patch: { active: true } });
  const replayed = await service.operator('POST', `/subscriptions/${off}/replay`, { since: SINCE });
  assert.equal(replayed.status, 202);
  const sent = await notificationsOf(off);
  assert.equal(sent.length, replayed.body.count);
  assert.ok(sent.every(({ body }) => body !== '' && !body.includes(name)));
});

test('what everybody got stays until its retention ends, and so does what names somebody similar', async () => {
  const name = 'Got Quastenberg';
  const world = await createSubscriber(service);
  const id = await world.subscribe({ types: [TYPE], active: true, url: receiver.url('/got') });
  // Of another type: it never misses these.
  await world.subscribe({ types: ['TRADE_STATUS_CHANGE'], active: false, url: receiver.url('/other') });
  const contactId = await payAs(world, name);
  await until(async () => (await notificationsOf(id)).every(({ status }) => status === 'delivered'));
  const similar = await createSubscriber(service);
  await similar.subscribe({ types: [TYPE], active: false, url: receiver.url('/similar') });
  await payAs(similar, `${name}er`);
  const before = [await bodiesWith(world, name), await bodiesWith(similar, name)];
  assert.ok(before.every((count) => count > 0));
  await erase(contactId);
  assert.deepEqual([await bodiesWith(world, name), await bodiesWith(similar, name)], before);
});

test('the erasure waits for the result of what is being sent', async () => {
  const name = 'Sent Quastenberg';
  const world = await createSubscriber(service);
  const slow = await Receiver.start(() => undefined);
  try {
    const id = await world.subscribe({ types: [TYPE], active: true, url: slow.url() });
    const contactId = await payAs(world, name);
    await slow.wait(1);
    const erasure = await begin(contactId);
    await nextRun('erasures', 2);
    assert.equal(await isDone(erasure), false);
    await slow.stop();
    await until(() => isDone(erasure));
    assert.equal(await bodiesWith(world, name), 0);
    assert.ok((await notificationsOf(id)).every(({ status, body }) => body !== '' || status === 'cancelled'));
  } finally {
    await slow.stop().catch(() => undefined);
  }
});

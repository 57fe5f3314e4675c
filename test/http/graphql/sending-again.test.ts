import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createSubscriber } from '../../world/graphql.ts';
import { startTestService, type TestService } from '../../world/service.ts';

const REDELIVER = `mutation ($id: UUID!) { redeliverNotification(input: {id: $id, clientMutationId: "mine"}) { clientMutationId count } }`;
const REPLAY = `mutation ($input: ReplayNotificationsInput!) { replayNotifications(input: $input) { count query { webhookTypes } } }`;
const HISTORY = '{ subscriptions { nodes { id notifications { nodes { id status } } } } }';
const SINCE = '2026-01-01T00:00:00Z';

describe('a contact sends notifications again', () => {
  let service: TestService;
  let world: Awaited<ReturnType<typeof createSubscriber>>;
  let subscription: string;
  let notification: string;
  before(async () => {
    service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' });
    world = await createSubscriber(service);
    subscription = await world.subscribe();
    await world.history(subscription, 3);
    notification = (await statuses(world))[0].id;
  });
  after(() => service.stop());

  const statuses = async (of: typeof world) =>
    (await of.graphql(HISTORY)).data.subscriptions.nodes.flatMap(
      (node: { notifications: { nodes: object[] } }) => node.notifications.nodes,
    );

  test('one, with an audit row in the contact’s name', async () => {
    const answer = await world.graphql(REDELIVER, { id: notification.toUpperCase() });
    assert.deepEqual(answer.data.redeliverNotification, { clientMutationId: 'mine', count: 1 });
    const pending = (await statuses(world)).filter((one: { status: string }) => one.status === 'pending');
    assert.deepEqual(pending, [{ id: notification, status: 'pending' }]);
    const { body } = await service.operator('GET', `/audit?entity=notification&entity_id=${notification}`);
    assert.equal(body[0].actor, `contact:${world.contactId}`);
  });

  test('those of a time, those that failed', async () => {
    const input = { subscriptionId: subscription, since: SINCE };
    assert.equal(
      (await world.graphql(REPLAY, { input: { ...input, until: SINCE } })).data.replayNotifications.count,
      0,
    );
    const { data } = await world.graphql(REPLAY, { input: { ...input, onlyFailed: true } });
    assert.equal(data.replayNotifications.count, 0);
    const all = await world.graphql(REPLAY, { input });
    assert.equal(all.data.replayNotifications.count, 3);
    const wrong = await world.graphql(REPLAY, { input: { ...input, until: '2025-01-01T00:00:00Z' } });
    assert.match(wrong.errors?.[0].message, /until: must not be before since/);
  });

  test('not without can_manage_webhooks', async () => {
    const refused = await world.asReader(REDELIVER, { id: notification });
    assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied']);
    const replay = await world.asReader(REPLAY, { input: { subscriptionId: subscription, since: SINCE } });
    assert.equal(replay.status, 403);
    const named = await world.asReader(REDELIVER.replace('{', '{ __typename '), { id: notification });
    assert.deepEqual([named.status, named.body.code], [403, 'permission_denied']);
  });

  test('not those of another client', async () => {
    const stranger = await createSubscriber(service, 'Stranger');
    const one = await stranger.graphql(REDELIVER, { id: notification });
    assert.match(one.errors?.[0].message, /notification of this client|notification that is kept/);
    const many = await stranger.graphql(REPLAY, { input: { subscriptionId: subscription, since: SINCE } });
    assert.equal(many.errors?.[0].message, 'subscriptionId: does not name a subscription');
  });
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  assertValidSchema,
  buildClientSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { createSubscriber } from '../../world/graphql.ts';
import { startTestService, type TestService } from '../../world/service.ts';

describe('GraphQL schema', () => {
  let service: TestService;
  let schema: GraphQLSchema;
  before(async () => {
    service = await startTestService();
    const { graphql } = await createSubscriber(service);
    const query = getIntrospectionQuery({
      inputValueDeprecation: true,
      schemaDescription: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      oneOf: true,
    });
    const answer = await graphql(query);
    assert.equal(answer.errors, undefined);
    schema = buildClientSchema(answer.data);
  });
  after(() => service.stop());

  const fields = (name: string): Record<string, string> => {
    const type = schema.getType(name);
    if (!isObjectType(type) && !isInputObjectType(type)) assert.fail(`${name} is no object`);
    return Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, String(field.type)]));
  };
  const args = (type: string, field: string): Record<string, string> => {
    const object = schema.getType(type);
    if (!isObjectType(object)) assert.fail(`${type} is no object`);
    return Object.fromEntries((object.getFields()[field]?.args ?? []).map((arg) => [arg.name, String(arg.type)]));
  };

  test('it is valid, and has the operations of the interface and no others', () => {
    assertValidSchema(schema);
    assert.deepEqual(fields('Query'), { subscriptions: 'SubscriptionConnection', webhookTypes: '[WebhookType!]!' });
    assert.deepEqual(fields('Mutation'), {
      createSubscription: 'CreateSubscriptionPayload',
      updateSubscription: 'UpdateSubscriptionPayload',
      deleteSubscription: 'DeleteSubscriptionPayload',
      redeliverNotification: 'RedeliverNotificationPayload',
      replayNotifications: 'ReplayNotificationsPayload',
    });
    assert.equal(schema.getSubscriptionType() ?? undefined, undefined);
  });

  test('a subscription', () => {
    assert.deepEqual(fields('Subscription'), {
      id: 'UUID!',
      clientId: 'String!',
      contactId: 'String!',
      delivery: 'SubscriptionDelivery!',
      url: 'String!',
      active: 'Boolean!',
      secret: 'String',
      types: '[WebhookType]!',
      extraHeaders: '[ExtraHeader]!',
      createdAt: 'Datetime!',
      disabledReason: 'String',
      disabledAt: 'Datetime',
      notifications: 'NotificationConnection!',
    });
    assert.deepEqual(fields('ExtraHeader'), { name: 'String', value: 'String' });
    const types = schema.getType('WebhookType');
    assert.ok(isEnumType(types));
    assert.deepEqual(
      types.getValues().map((value) => value.name),
      [
        'TRADE_STATUS_CHANGE',
        'PAYMENT_STATUS_CHANGE',
        'CREDIT_INCOMING_TRANSACTION',
        'CREDIT_MARGIN_TRANSACTION',
        'CREDIT_PAYMENT_RETURNED_TRANSACTION',
        'CREDIT_TRANSACTION',
        'DEBIT_TRANSACTION',
        'ONBOARDING_STATUS_CHANGE',
        'BENEFICIARY_STATUS_CHANGE',
        'MASS_PAYMENT_STATUS_CHANGE',
        'MASS_BENEFICIARY_STATUS_CHANGE',
      ],
    );
  });

  test('its history', () => {
    assert.deepEqual(fields('Notification'), {
      id: 'UUID!',
      type: 'String!',
      status: 'String!',
      createdAt: 'Datetime!',
      body: 'String',
      attempts: 'AttemptConnection!',
    });
    assert.deepEqual(fields('Attempt'), {
      attemptNumber: 'Int!',
      deliveryId: 'UUID!',
      startedAt: 'Datetime!',
      durationMs: 'Int!',
      statusCode: 'Int',
      headers: 'JSON',
      body: 'String',
      reason: 'String',
    });
  });

  test('inputs and payloads', () => {
    assert.deepEqual(args('Mutation', 'createSubscription'), { input: 'CreateSubscriptionInput!' });
    assert.deepEqual(fields('CreateSubscriptionInput'), {
      clientMutationId: 'String',
      subscription: 'SubscriptionInput!',
    });
    assert.deepEqual(fields('SubscriptionInput'), {
      delivery: 'SubscriptionDelivery',
      url: 'String',
      types: '[WebhookType]!',
      active: 'Boolean',
      secret: 'String',
      extraHeaders: '[ExtraHeaderInput]',
    });
    assert.deepEqual(fields('ExtraHeaderInput'), { name: 'String!', value: 'String!' });
    assert.deepEqual(fields('UpdateSubscriptionInput'), {
      clientMutationId: 'String',
      id: 'UUID!',
      patch: 'SubscriptionPatch!',
    });
    assert.deepEqual(fields('SubscriptionPatch'), {
      url: 'String',
      types: '[WebhookType]',
      active: 'Boolean',
      secret: 'String',
      extraHeaders: '[ExtraHeaderInput]',
      previousSecretSeconds: 'Int',
    });
    assert.deepEqual(fields('DeleteSubscriptionInput'), { clientMutationId: 'String', id: 'UUID!' });
    for (const kind of ['Create', 'Update', 'Delete']) {
      assert.deepEqual(fields(`${kind}SubscriptionPayload`), {
        clientMutationId: 'String',
        subscription: 'Subscription',
        query: 'Query',
      });
    }
  });

  test('connections have the shape of the cursor-connection specification', () => {
    for (const [owner, field, node] of [
      ['Query', 'subscriptions', 'Subscription'],
      ['Subscription', 'notifications', 'Notification'],
      ['Notification', 'attempts', 'Attempt'],
    ] as const) {
      assert.deepEqual(fields(`${node}Connection`), {
        nodes: `[${node}]!`,
        edges: `[${node}Edge]!`,
        pageInfo: 'PageInfo!',
        totalCount: 'Int!',
      });
      assert.deepEqual(fields(`${node}Edge`), { cursor: 'Cursor', node });
      assert.deepEqual(args(owner, field), {
        first: 'Int',
        last: 'Int',
        offset: 'Int',
        before: 'Cursor',
        after: 'Cursor',
        filter: `${node}Filter`,
        orderBy: `[${node}OrderBy!]`,
      });
    }
    assert.deepEqual(fields('PageInfo'), {
      hasNextPage: 'Boolean!',
      hasPreviousPage: 'Boolean!',
      startCursor: 'Cursor',
      endCursor: 'Cursor',
    });
  });

  test('filters and orders name only what is cheap', () => {
    assert.deepEqual(Object.keys(fields('SubscriptionFilter')).sort(), [
      'active',
      'contactId',
      'createdAt',
      'id',
      'types',
      'url',
    ]);
    assert.deepEqual(Object.keys(fields('NotificationFilter')).sort(), ['createdAt', 'id', 'status', 'type']);
    assert.deepEqual(Object.keys(fields('AttemptFilter')).sort(), ['reason', 'statusCode']);
    assert.equal(fields('BooleanFilter').equalTo, 'Boolean');
    const orders = schema.getType('SubscriptionOrderBy');
    assert.ok(isEnumType(orders));
    assert.deepEqual(
      orders.getValues().map((value) => value.name),
      ['NATURAL', 'PRIMARY_KEY_ASC', 'PRIMARY_KEY_DESC', 'CREATED_AT_ASC', 'CREATED_AT_DESC'],
    );
  });

  test('nothing of the tables that the interface does not name is in it', () => {
    const names = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) || isInputObjectType(type))
      // It names its subscription, which is not a column.
      .filter((type) => type.name !== 'ReplayNotificationsInput')
      .flatMap((type) => Object.keys((type as { getFields(): object }).getFields()));
    for (const name of [
      'rowId',
      'nodeId',
      'deletedAt',
      'previousSecret',
      'revision',
      'eventId',
      'subscriptionId',
      'node_id',
    ]) {
      assert.ok(!names.includes(name), name);
    }
    assert.equal(schema.getType('Node'), undefined);
  });
});

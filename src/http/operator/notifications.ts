import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { Uuid } from '../../values/schemas.ts';
import { findNotification, listNotifications, NOTIFICATION, type NotificationFilter } from '../../webhooks/history.ts';
import { NOTIFICATION_STATUSES, PING, WEBHOOK_TYPES } from '../../webhooks/notification.ts';
import { redeliver } from '../../webhooks/redelivery.ts';
import { operation, serve } from '../schemas/operation.ts';
import { periodOf, periodQuery } from '../schemas/period.ts';
import { sendList } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer, Paging, rowsOf, uuidPath } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { READ, REDELIVER } from './listener.ts';

const NotificationList = Type.Object({
  client_id: Type.Optional(Type.String({ description: 'Only of this client' })),
  subscription_id: Type.Optional(Uuid('Only of this subscription')),
  payment_id: Type.Optional(Type.String({ minLength: 1, description: 'Only about this payment' })),
  status: Type.Optional(Type.Enum([...NOTIFICATION_STATUSES])),
  type: Type.Optional(Type.Enum([...WEBHOOK_TYPES, PING])),
  ...periodQuery('Created'),
  ...Paging,
});
const Notification = Type.Object(NOTIFICATION.properties, {
  title: 'Notification',
  examples: [
    {
      id: '8a6e0804-2bd0-4672-b79d-d97027f9071a',
      client_id: 'CLI000001',
      subscription_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      type: 'PING',
      status: 'delivered',
      created_at: '2026-07-01T09:15:00.000Z',
      body: '{"ping":{}}',
      attempts: [
        {
          attempt_number: 1,
          delivery_id: '6f1d0a52-5d1c-4b8e-9a3e-0f6f6d3b2c11',
          started_at: '2026-07-01T09:15:00.100Z',
          duration_ms: 12,
          status_code: 204,
          headers: { 'content-length': '0' },
          body: '',
          reason: null,
        },
      ],
    },
  ],
});
export const QueuedCount = Type.Object(
  { count: Type.Integer({ description: 'Notifications that were queued' }) },
  { title: 'QueuedCount', examples: [{ count: 1 }] },
);

const LIST = operation('GET /notifications', {
  config: READ,
  schema: {
    operationId: 'listNotifications',
    tags: ['webhooks'],
    summary: 'List notifications with their attempts, the newest first',
    querystring: NotificationList,
    response: { 200: listAnswer('A page of notifications, the newest first', Notification), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /notifications/{id}', {
  config: READ,
  schema: {
    operationId: 'getNotification',
    tags: ['webhooks'],
    summary: 'Read a notification with its attempts',
    params: uuidPath('id', 'Notification UUID'),
    response: { 200: jsonAnswer('The notification', Notification), ...errors(400, 404, 502, 'notification_not_found') },
  },
});

const SEND_AGAIN = operation('POST /notifications/{id}/redeliver', {
  config: REDELIVER,
  schema: {
    operationId: 'redeliverNotification',
    tags: ['webhooks'],
    summary: 'Send a notification again, with the same id and bytes',
    params: uuidPath('id', 'Notification UUID'),
    response: {
      202: jsonAnswer('How many notifications were queued', QueuedCount),
      ...errors(400, 404, 409, 502, 'notification_not_found', 'transition_not_allowed'),
    },
  },
});

export type NotificationOperations = typeof LIST | typeof READ_ONE | typeof SEND_AGAIN;

/** Webhook notifications and their attempts (docs/operator-interface.md). */
export function operatorNotificationRoutes(app: FastifyInstance, context: Context): void {
  serve(app, LIST, async ({ query }, reply) =>
    sendList(reply, await listNotifications(context.pool, filterOf(query), rowsOf(query))),
  );
  serve(app, READ_ONE, (request) => findNotification(context.pool, request.params.id));
  serve(
    app,
    SEND_AGAIN,
    change(context, 202, (tx, act, request) => redeliver(tx, act, { id: request.params.id })),
  );
}

function filterOf(query: Static<typeof NotificationList>): NotificationFilter {
  return {
    clientId: query.client_id,
    subscriptionId: query.subscription_id,
    paymentId: query.payment_id,
    status: query.status,
    type: query.type,
    ...periodOf(query),
  };
}

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { findNotification, listNotifications } from '../../webhooks/history.ts';
import { PING, WEBHOOK_TYPES } from '../../webhooks/notification.ts';
import { redeliver } from '../../webhooks/redelivery.ts';
import { optionalInstant } from '../instant.ts';
import { sendList } from '../reply.ts';
import { errors, Instant, type Page, Paging, rowsOf, Uuid } from '../schemas.ts';
import { change } from './change.ts';
import { READ, REDELIVER } from './listener.ts';

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'];

const NotificationList = Type.Object({
  client_id: Type.Optional(Type.String({ description: 'Only of this client' })),
  subscription_id: Type.Optional(Uuid('Only of this subscription')),
  payment_id: Type.Optional(Type.String({ minLength: 1, description: 'Only about this payment' })),
  status: Type.Optional(Type.Enum(STATUSES)),
  type: Type.Optional(Type.Enum([...WEBHOOK_TYPES, PING])),
  from: Type.Optional(Instant('Created from this instant on')),
  to: Type.Optional(Instant('Created before this instant')),
  ...Paging,
});
export const QueuedCount = Type.Object({ count: Type.Integer({ description: 'Notifications that were queued' }) });

const LIST = {
  config: READ,
  schema: {
    operationId: 'listNotifications',
    tags: ['webhooks'],
    summary: 'List notifications with their attempts, the newest first',
    querystring: NotificationList,
    response: errors(400, 502),
  },
};

const READ_ONE = {
  config: READ,
  schema: {
    operationId: 'getNotification',
    tags: ['webhooks'],
    summary: 'Read a notification with its attempts',
    params: Type.Object({ id: Type.String({ description: 'Notification UUID' }) }),
    response: errors(400, 404, 502, 'notification_not_found'),
  },
};

const SEND_AGAIN = {
  config: REDELIVER,
  schema: {
    operationId: 'redeliverNotification',
    tags: ['webhooks'],
    summary: 'Send a notification again, with the same id and bytes',
    params: Type.Object({ id: Type.String({ description: 'Notification UUID' }) }),
    response: { 202: QueuedCount, ...errors(400, 404, 409, 502, 'notification_not_found', 'transition_not_allowed') },
  },
};

/** Webhook notifications and their attempts (docs/operator-interface.md). */
export function operatorNotificationRoutes(app: FastifyInstance, context: Context): void {
  app.get<{ Querystring: Static<typeof NotificationList> & Page }>('/notifications', LIST, async ({ query }, reply) => {
    const filter = {
      clientId: query.client_id,
      subscriptionId: query.subscription_id,
      paymentId: query.payment_id,
      status: query.status,
      type: query.type,
      from: optionalInstant(query.from, 'from'),
      to: optionalInstant(query.to, 'to'),
    };
    return sendList(reply, await listNotifications(context.pool, filter, rowsOf(query)));
  });
  app.get<{ Params: { id: string } }>('/notifications/:id', READ_ONE, (request) =>
    findNotification(context.pool, request.params.id),
  );
  app.post<{ Params: { id: string } }>(
    '/notifications/:id/redeliver',
    SEND_AGAIN,
    change(context, 202, (tx, act, request) => redeliver(tx, act, { id: request.params.id })),
  );
}

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { parseInstant } from '../../calendar.ts';
import type { Context } from '../../context.ts';
import { Problem } from '../../errors.ts';
import { findNotification, listNotifications, listSubscriptions } from '../../webhooks/history.ts';
import { PING, WEBHOOK_TYPES } from '../../webhooks/notification.ts';
import { redeliver, replay } from '../../webhooks/redelivery.ts';
import { errors, Instant, Paging, Uuid } from '../schemas.ts';
import { change, READ, SUPPORT } from './listener.ts';

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'];

const SubscriptionList = Type.Object({
  client_id: Type.Optional(Type.String({ description: 'Only of this client' })),
  active: Type.Optional(Type.Enum(['true', 'false'])),
  ...Paging,
});
const NotificationList = Type.Object({
  client_id: Type.Optional(Type.String({ description: 'Only of this client' })),
  subscription_id: Type.Optional(Uuid('Only of this subscription')),
  status: Type.Optional(Type.Enum(STATUSES)),
  type: Type.Optional(Type.Enum([...WEBHOOK_TYPES, PING])),
  from: Type.Optional(Instant('Created from this moment on')),
  to: Type.Optional(Instant('Created before this moment')),
  ...Paging,
});
const ReplayBody = Type.Object(
  {
    since: Instant('Events from this moment on'),
    until: Type.Optional(Instant('Events before this moment; without it, up to now')),
    only_failed: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only notifications that were given up, not what was sent or missed',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ since: '2026-07-01T00:00:00Z' }] },
);
const Count = Type.Object({ count: Type.Integer({ description: 'Notifications that were put into the queue' }) });

/** What the operator sees and does of webhooks (docs/operator-interface.md). */
export function operatorWebhookRoutes(app: FastifyInstance, context: Context): void {
  const { pool, backgroundPool } = context;
  // A replay puts as much into the queue as was missed: it takes the time it takes.
  const inBackground = { ...context, pool: backgroundPool };

  app.get<{ Querystring: Static<typeof SubscriptionList> & { page: number; page_size: number } }>(
    '/subscriptions',
    {
      config: READ,
      schema: {
        tags: ['webhooks'],
        summary: 'List webhook subscriptions',
        querystring: SubscriptionList,
        response: errors(400, 502),
      },
    },
    async ({ query }, reply) => {
      const active = query.active === undefined ? undefined : query.active === 'true';
      const { rows, total } = await listSubscriptions(pool, { clientId: query.client_id, active }, pageOf(query));
      return reply.header('x-total-count', total).send(rows);
    },
  );
  app.get<{ Querystring: Static<typeof NotificationList> & { page: number; page_size: number } }>(
    '/notifications',
    {
      config: READ,
      schema: {
        tags: ['webhooks'],
        summary: 'List notifications with their attempts, the newest first',
        querystring: NotificationList,
        response: errors(400, 502),
      },
    },
    async ({ query }, reply) => {
      const filter = {
        clientId: query.client_id,
        subscriptionId: query.subscription_id,
        status: query.status,
        type: query.type,
        from: query.from === undefined ? undefined : instant(query.from, 'query.from'),
        to: query.to === undefined ? undefined : instant(query.to, 'query.to'),
      };
      const { rows, total } = await listNotifications(pool, filter, pageOf(query));
      return reply.header('x-total-count', total).send(rows);
    },
  );
  app.get<{ Params: { id: string } }>(
    '/notifications/:id',
    {
      config: READ,
      schema: {
        tags: ['webhooks'],
        summary: 'Read a notification with its attempts',
        params: Type.Object({ id: Type.String({ description: 'Notification UUID' }) }),
        response: errors(400, 404, 502),
      },
    },
    (request) => findNotification(pool, request.params.id),
  );
  app.post<{ Params: { id: string } }>(
    '/notifications/:id/redeliver',
    {
      config: SUPPORT,
      schema: {
        tags: ['webhooks'],
        summary: 'Send a notification again, with the same id and bytes',
        params: Type.Object({ id: Type.String({ description: 'Notification UUID' }) }),
        response: { 202: Count, ...errors(400, 404, 409, 502) },
      },
    },
    (request, reply) => change(request, reply, context, 202, (tx, act) => redeliver(tx, act, request.params.id)),
  );
  app.post<{ Params: { id: string }; Body: Static<typeof ReplayBody> }>(
    '/subscriptions/:id/replay',
    {
      config: SUPPORT,
      schema: {
        tags: ['webhooks'],
        summary: 'Give a subscription the events of a period that it missed or that failed',
        params: Type.Object({ id: Type.String({ description: 'Subscription UUID' }) }),
        body: ReplayBody,
        response: { 202: Count, ...errors(400, 404, 409, 502) },
      },
    },
    (request, reply) => {
      const { since, until, only_failed: onlyFailed = false } = request.body;
      const from = instant(since, 'body.since');
      const to = until === undefined ? request.now : instant(until, 'body.until');
      return change(request, reply, inBackground, 202, (tx, act) =>
        replay(tx, act, { subscriptionId: request.params.id, since: from, until: to, onlyFailed }),
      );
    },
  );
}

function pageOf(query: { page: number; page_size: number }): { limit: number; offset: number } {
  return { limit: query.page_size, offset: (query.page - 1) * query.page_size };
}

function instant(text: string, field: string): Date {
  const found = parseInstant(text);
  if (!found)
    throw new Problem(
      'invalid_parameter',
      `${field}: must be an ISO 8601 moment with an offset, as 2026-07-01T10:15:00Z`,
    );
  return found;
}

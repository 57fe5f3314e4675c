import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { listSubscriptions } from '../../webhooks/history.ts';
import { replay } from '../../webhooks/redelivery.ts';
import { optionalInstant, requiredInstant } from '../instant.ts';
import { sendList } from '../reply.ts';
import { closed, errors, Instant, type Page, Paging, rowsOf } from '../schemas.ts';
import { change } from './change.ts';
import { READ, REDELIVER } from './listener.ts';
import { QueuedCount } from './notifications.ts';

const SubscriptionList = Type.Object({
  client_id: Type.Optional(Type.String({ description: 'Only of this client' })),
  active: Type.Optional(Type.Enum(['true', 'false'])),
  ...Paging,
});
const ReplayBody = Type.Object(
  {
    since: Instant('Events from this instant on'),
    until: Type.Optional(Instant('Events before this instant; default: now')),
    only_failed: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only notifications that failed for good, not those that were delivered or missed',
      }),
    ),
  },
  { ...closed, examples: [{ since: '2026-07-01T00:00:00Z' }] },
);
const LIST = {
  config: READ,
  schema: {
    operationId: 'listSubscriptions',
    tags: ['webhooks'],
    summary: 'List webhook subscriptions',
    querystring: SubscriptionList,
    response: errors(400, 502),
  },
};

const REPLAY = {
  config: REDELIVER,
  schema: {
    operationId: 'replaySubscription',
    tags: ['webhooks'],
    summary: 'Send a subscription the events of a period that it missed or that failed',
    params: Type.Object({ id: Type.String({ description: 'Subscription UUID' }) }),
    body: ReplayBody,
    response: { 202: QueuedCount, ...errors(400, 404, 409, 502, 'subscription_not_found', 'transition_not_allowed') },
  },
};

/** The clients' webhook subscriptions (docs/operator-interface.md). */
export function operatorSubscriptionRoutes(app: FastifyInstance, context: Context): void {
  app.get<{ Querystring: Static<typeof SubscriptionList> & Page }>('/subscriptions', LIST, async ({ query }, reply) => {
    const active = query.active === undefined ? undefined : query.active === 'true';
    const filter = { clientId: query.client_id, active };
    return sendList(reply, await listSubscriptions(context.pool, filter, rowsOf(query)));
  });
  // A replay queues everything that was missed: no limit on the time that takes.
  const inBackground = { ...context, pool: context.backgroundPool };
  app.post<{ Params: { id: string }; Body: Static<typeof ReplayBody> }>(
    '/subscriptions/:id/replay',
    REPLAY,
    change(inBackground, 202, async (tx, act, { params, body }) =>
      replay(tx, act, {
        subscriptionId: params.id,
        since: requiredInstant(body.since, 'since'),
        until: optionalInstant(body.until, 'until') ?? act.now,
        onlyFailed: body.only_failed ?? false,
      }),
    ),
  );
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { closed, Instant, UuidOfRecord } from '../../values/schemas.ts';
import { listSubscriptions, SUBSCRIPTION } from '../../webhooks/history.ts';
import { replay } from '../../webhooks/redelivery.ts';
import { operation, serve } from '../schemas/operation.ts';
import { optionalInstant, requiredInstant } from '../schemas/period.ts';
import { sendList } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer, Paging, rowsOf } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { READ, REDELIVER } from './listener.ts';
import { QueuedCount } from './notifications.ts';

const SubscriptionList = Type.Object({
  client_id: Type.Optional(Type.String({ description: 'Only of this client' })),
  active: Type.Optional(Type.Enum(['true', 'false'])),
  failing: Type.Optional(Type.Enum(['true', 'false'], { description: 'Whether its receiver fails now' })),
  ...Paging,
});
const ReplayBody = Type.Object(
  {
    since: Instant('Events from this instant on'),
    until: Type.Optional(Instant('Events before this instant; default: now')),
    only_failed: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only notifications whose attempts have failed, not those that were delivered or missed',
      }),
    ),
  },
  { ...closed, title: 'ReplayInput', examples: [{ since: '2026-07-01T00:00:00Z' }] },
);
const Subscription = Type.Object(SUBSCRIPTION.shown, {
  title: 'Subscription',
  examples: [
    {
      id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      client_id: 'CLI000001',
      contact_id: 'CON000001',
      url: 'https://acme.example/webhooks',
      active: true,
      types: ['PAYMENT_STATUS_CHANGE'],
      extra_headers: [],
      created_at: '2026-07-01T09:15:00.000Z',
      disabled_reason: null,
      disabled_at: null,
      deleted_at: null,
      failing_since: null,
    },
  ],
});
const LIST = operation('GET /subscriptions', {
  config: READ,
  schema: {
    operationId: 'listSubscriptions',
    tags: ['webhooks'],
    summary: 'List webhook subscriptions',
    querystring: SubscriptionList,
    response: { 200: listAnswer('A page of subscriptions, the newest first', Subscription), ...errors(400, 502) },
  },
});

const REPLAY = operation('POST /subscriptions/{id}/replay', {
  config: REDELIVER,
  schema: {
    operationId: 'replaySubscription',
    tags: ['webhooks'],
    summary: 'Send a subscription what it had in a period: what was sent, what waits, what it missed while inactive',
    params: Type.Object({
      id: UuidOfRecord('Subscription UUID', { examples: ['8a6e0804-2bd0-4672-b79d-d97027f9071a'] }),
    }),
    body: ReplayBody,
    response: {
      202: jsonAnswer('How many notifications are sent, of those that the subscription had', QueuedCount),
      ...errors(400, 404, 409, 502, 'subscription_not_found', 'transition_not_allowed'),
    },
  },
});

export type SubscriptionOperations = typeof LIST | typeof REPLAY;

/** The clients' webhook subscriptions (docs/operator-interface.md). */
export function operatorSubscriptionRoutes(app: FastifyInstance, context: Context): void {
  serve(app, LIST, async ({ query }, reply) => {
    const chosen = (value: string | undefined) => (value === undefined ? undefined : value === 'true');
    const filter = { clientId: query.client_id, active: chosen(query.active), failing: chosen(query.failing) };
    return sendList(reply, await listSubscriptions(context.pool, filter, rowsOf(query)));
  });
  // A replay queues everything that was missed, so it has no time limit.
  const inBackground = { ...context, pool: context.backgroundPool };
  serve(
    app,
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

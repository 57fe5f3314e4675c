import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { UuidOfRecord } from '../../values/schemas.ts';
import { ping } from '../../webhooks/ping.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors } from '../schemas/schemas.ts';
import { answerChange } from './change.ts';

const PING = operation('POST /webhooks/ping/{subscription_id}', {
  config: { permission: 'can_manage_webhooks' as const, clientHeader: true },
  schema: {
    operationId: 'pingSubscription',
    tags: ['webhooks'],
    summary: 'Send a Ping notification to a subscription',
    params: Type.Object({
      subscription_id: UuidOfRecord('Subscription UUID', { examples: ['8a6e0804-2bd0-4672-b79d-d97027f9071a'] }),
    }),
    querystring: Type.Object({
      client_id: Type.Optional(Type.String({ description: 'Client identifier; or the header X-Client-ID' })),
    }),
    response: {
      204: Type.Null({ description: 'Accepted for sending' }),
      ...errors(400, 403, 502, 'subscription_not_found'),
    },
  },
});

/** The ping of the client API (service interface, POST /webhooks/ping/{subscription_id}). */
export function webhookRoutes(app: FastifyInstance, context: Context): void {
  serve(app, PING, async (request, reply) => {
    const key = { clientId: request.caller.clientId, subscriptionId: request.params.subscription_id };
    return answerChange(context, request, reply, async (tx) => {
      await ping(tx, key, request.now);
      return { status: 204, body: '' };
    });
  });
}

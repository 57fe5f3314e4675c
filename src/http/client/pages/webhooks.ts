import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../../context.ts';
import { receiverHealth } from '../../../webhooks/receiver-health.ts';
import { sendValue } from '../../schemas/reply.ts';
import { ClientId, UuidOfRecord } from '../../schemas/schemas.ts';

const Wanted = Type.Object({ client_id: ClientId, subscription_id: UuidOfRecord('Subscription') });

/** What the page of webhooks needs in addition to GraphQL: how a receiver has answered lately. */
export function webhooksData(app: FastifyInstance, { pool }: Context): void {
  app.get<{ Querystring: Static<typeof Wanted> }>(
    '/app/data/receiver-health',
    { schema: { querystring: Wanted } },
    async (request, reply) => {
      const { subscription_id: subscriptionId } = request.query;
      const { clientId } = request.caller;
      return sendValue(reply, await receiverHealth(pool, { clientId, subscriptionId }, request.now));
    },
  );
}

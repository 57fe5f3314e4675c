import type { FastifyInstance } from 'fastify';
import type { Context } from '../../../context.ts';
import { DESTINATIONS } from '../../../sandbox/course.ts';
import { EVENTS } from '../../../sandbox/events.ts';
import { sendValue } from '../../schemas/reply.ts';
import { ClientQuery } from '../../schemas/schemas.ts';

/** What an integrator can choose from on the page of the sandbox: events to trigger, and where a payment can be advanced to. */
export function sandboxData(app: FastifyInstance, { config }: Context): void {
  if (config.environment !== 'sandbox') return;
  app.get('/app/data/sandbox', { schema: { querystring: ClientQuery } }, async (_request, reply) =>
    sendValue(reply, { events: EVENTS, destinations: DESTINATIONS }),
  );
}

import type { FastifyInstance } from 'fastify';
import { errors } from '../schemas/schemas.ts';

const PING = {
  config: { open: true },
  schema: {
    operationId: 'ping',
    tags: ['clients'],
    summary: 'Tell whether the API answers',
    description: 'Needs no token.',
    security: [],
    response: { 200: { description: 'It answers', type: 'null' }, 405: errors('method_not_allowed')[405] },
  },
};

/** GET /ping: shows that the API answers. */
export function pingRoutes(app: FastifyInstance): void {
  app.get('/ping', PING, (_request, reply) => reply.code(200).send());
}

import type { FastifyReply } from 'fastify';

/** Sends a text that is JSON already. */
export function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(body);
}

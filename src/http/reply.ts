import type { FastifyReply } from 'fastify';

/** Sends a text that is JSON already. */
export function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(body);
}

/** Sends a value as JSON; its decimals keep exactly their digits (json.ts). */
export function sendValue(reply: FastifyReply, value: unknown): FastifyReply {
  return sendJson(reply, JSON.stringify(value));
}

/** Sends a page of a list; the header x-total-count says how many entries the whole list has, where they were counted. */
export function sendList(reply: FastifyReply, list: { rows: unknown[]; total: number | undefined }): FastifyReply {
  if (list.total !== undefined) reply.header('x-total-count', list.total);
  return sendValue(reply, list.rows);
}

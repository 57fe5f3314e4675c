import type { FastifyReply } from 'fastify';
import { DEFAULT_PAGE_SIZE, type Page } from './schemas.ts';

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

/** Sends a list that is short enough to be read whole: all of it, or the page that the query asks for. */
export function sendShortList(
  reply: FastifyReply,
  rows: unknown[],
  { page, page_size: size }: Partial<Page>,
): FastifyReply {
  const limit = size ?? (page === undefined ? rows.length : DEFAULT_PAGE_SIZE);
  const from = ((page ?? 1) - 1) * limit;
  return sendList(reply, { rows: rows.slice(from, from + limit), total: rows.length });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Where what the route creates can be read, with fields of its answer in braces: `/payments/{payment_id}`. A 201 names that address
     * in its header Location (RFC 9110, 10.2.2), and the description says so.
     */
    location?: string;
  }
}

/** The header Location of an answer, for its description. */
export function locationHeader(description: string, example?: string): object {
  return { Location: { type: 'string', format: 'uri-reference', description, ...(example && { example }) } };
}

/**
 * The address of what was made.
 * @param template a route's `location`
 * @param made the answer's body, as JSON
 */
export function locationOf(template: string, made: string): string {
  const fields = JSON.parse(made) as Record<string, unknown>;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(fields[name])));
}

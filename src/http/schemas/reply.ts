import type { FastifyReply } from 'fastify';
import { DEFAULT_PAGE_SIZE, type Page } from './schemas.ts';

/** Sends a text that is already JSON. */
export function sendJson(reply: FastifyReply, body: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(body);
}

/** A reply that has sent a value. The compiler compares its type with what the operation describes; `answer` is never set. */
export interface Sent<Value> extends Pick<FastifyReply, 'sent'> {
  readonly answer?: Value;
}

/** Sends a value as JSON. Its decimals keep exactly their digits (json.ts). */
export function sendValue<Value>(reply: FastifyReply, value: Value): Sent<Value> {
  return sendJson(reply, JSON.stringify(value));
}

/** Sends a page of a list. The header x-total-count has the number of entries in the whole list, if they were counted. */
export function sendList<Row>(reply: FastifyReply, list: { rows: Row[]; total: number | undefined }): Sent<Row[]> {
  if (list.total !== undefined) reply.header('x-total-count', list.total);
  return sendValue(reply, list.rows);
}

/** Sends a list that is short enough to be read completely: all of it, or the requested page. */
export function sendShortList<Row>(
  reply: FastifyReply,
  rows: Row[],
  { page, page_size: size }: Partial<Page>,
): Sent<Row[]> {
  const limit = size ?? (page === undefined ? rows.length : DEFAULT_PAGE_SIZE);
  const from = ((page ?? 1) - 1) * limit;
  return sendList(reply, { rows: rows.slice(from, from + limit), total: rows.length });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Where the record that a route creates can be read, with fields of its answer in braces: `/payments/{payment_id}`. A 201 has that
     * address in its header Location (RFC 9110, 10.2.2), and the description says so.
     */
    location?: string;
  }
}

/** The description of an answer's Location header. */
export function locationHeader(description: string, example?: string): object {
  return { Location: { type: 'string', format: 'uri-reference', description, ...(example && { example }) } };
}

/**
 * The address of a created record.
 * @param template a route's `location`
 * @param made the answer's body, as JSON
 */
export function locationOf(template: string, made: string): string {
  const fields = JSON.parse(made) as Record<string, unknown>;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(fields[name])));
}

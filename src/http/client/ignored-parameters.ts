import type { FastifyRequest } from 'fastify';
import { fieldsOf } from '../../values/unknown.ts';

/** Names that an answer tells, and characters of each. */
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 100;

/**
 * The query parameters of a request that its operation does not know. The interface ignores them, so that a misspelt filter finds
 * everything; the sandbox says so.
 */
export function ignoredParameters({ is404, query, routeOptions }: FastifyRequest): string[] {
  const { open, page } = routeOptions.config;
  if (is404 || open || page) return [];
  const described = fieldsOf(fieldsOf(routeOptions.schema?.querystring).properties);
  // The listener reads the client of every request.
  const known = new Set([...Object.keys(described), 'client_id']);
  const unknown = Object.keys(fieldsOf(query)).filter((name) => !known.has(name));
  return unknown.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH).toWellFormed());
}

/** Names as the value of a header, as a query writes them. */
export function headerOf(names: readonly string[]): string {
  return names.map(encodeURIComponent).join(', ');
}

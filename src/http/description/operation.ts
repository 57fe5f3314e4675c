import type { FastifySchema, RouteOptions } from 'fastify';
import type { ErrorCode } from '../../values/errors.ts';
import { locationHeader } from '../schemas/reply.ts';
import { errorAnswer } from '../schemas/schemas.ts';
import { allowNoBody } from '../server/body.ts';
import { examplesByStatus } from './error-examples.ts';

/** The codes that a request can get before its handler runs: what the listener checks, for each of its routes. */
export type ImpliedCodes = (route: RouteOptions, schema: FastifySchema) => ErrorCode[];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The media types of a body that no schema checks, such as a stream. */
    describedBody?: Record<string, { schema: object }>;
  }
}

interface Answer {
  content?: Record<string, object>;
  'x-codes'?: ErrorCode[];
}

/**
 * The schema of a route as the description shows it: each error status that can occur, with an example for each code. The codes are those
 * that the route names (`errors` of schemas.ts), those that the listener implies, and those of reading a body.
 */
export function describeOperation(schema: FastifySchema, route: RouteOptions, implied: ImpliedCodes): FastifySchema {
  if (!schema || schema.hide) return schema;
  const declared = (schema.response ?? {}) as Record<string, Answer>;
  const own = Object.values(declared).flatMap((answer) => answer['x-codes'] ?? []);
  const reading: ErrorCode[] = schema.body ? ['invalid_body', 'payload_too_large', 'unsupported_media_type'] : [];
  const response: Record<string, unknown> = { ...declared };
  for (const [status, examples] of examplesByStatus([...own, ...reading, ...implied(route, schema)])) {
    const answer = (declared[status] ?? errorAnswer(status)) as Answer;
    const media = answer.content?.['application/json'] ?? {};
    response[status] = { ...answer, content: { 'application/json': { ...media, examples } } };
  }
  const { location } = route.config ?? {};
  if (location) response[201] = { ...declared[201], headers: locationHeader(`Where it can be read: ${location}`) };
  const { summary } = schema;
  const body = route.config?.describedBody
    ? { content: route.config.describedBody }
    : [route.preValidation].flat().some((hook) => hook === allowNoBody)
      ? { ...(schema.body as object), [OPTIONAL]: true }
      : schema.body;
  return { ...schema, ...(body ? { body } : {}), description: schema.description ?? `${summary}.`, response };
}

/** Marks the schema of a body that may be left out, until `describeBody` has seen it. */
const OPTIONAL = 'x-optional';

/** Says whether a body is required: @fastify/swagger takes every one for required. */
export function describeBody({ requestBody }: { requestBody?: unknown }): void {
  const body = requestBody as { required?: boolean; content?: Record<string, { schema?: object }> } | undefined;
  const schema = body?.content?.['application/json']?.schema as { [OPTIONAL]?: true } | undefined;
  if (!body || !schema?.[OPTIONAL]) return;
  delete schema[OPTIONAL];
  body.required = false;
}

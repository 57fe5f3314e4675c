import type { FastifySchema, RouteOptions } from 'fastify';
import { type ErrorCode, MESSAGES } from '../../values/errors.ts';
import { fieldsOf, isOneOf, listOf, namesOf } from '../../values/unknown.ts';
import { locationHeader } from '../schemas/reply.ts';
import { errorAnswer } from '../schemas/schemas.ts';
import { allowNoBody } from '../server/body.ts';
import { examplesByStatus } from './error-examples.ts';
import type { DescribedOperation } from './headers.ts';

/** Returns the codes that a request can get before its handler runs, from the listener's own checks of a route. */
export type ImpliedCodes = (route: RouteOptions, schema: FastifySchema) => ErrorCode[];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The media types of a body that no schema checks, such as a stream, in addition to JSON that a schema checks. */
    describedBody?: Record<string, { schema: object }>;
  }
}

/**
 * The schema of a route in the form of the description: each possible error status, with an example for each code. The codes are those that
 * the route names (`errors` of schemas.ts), those that the listener implies, and those of reading a body.
 */
export function describeOperation(schema: FastifySchema, route: RouteOptions, implied: ImpliedCodes): FastifySchema {
  if (!schema || schema.hide) return schema;
  const declared = fieldsOf(schema.response);
  const own = Object.values(declared).flatMap((answer) =>
    listOf(fieldsOf(answer)['x-codes']).filter((code) => isOneOf(CODES, code)),
  );
  const reading: ErrorCode[] = schema.body ? ['invalid_body', 'payload_too_large', 'unsupported_media_type'] : [];
  const response: Record<string, unknown> = { ...declared };
  for (const [status, examples] of examplesByStatus([...own, ...reading, ...implied(route, schema)])) {
    const answer = fieldsOf(declared[status] ?? errorAnswer(status));
    const content = fieldsOf(answer.content);
    const media = fieldsOf(content['application/json']);
    response[status] = { ...answer, content: { ...content, 'application/json': { ...media, examples } } };
  }
  const { location } = route.config ?? {};
  if (location)
    response[201] = { ...fieldsOf(declared[201]), headers: locationHeader(`Where it can be read: ${location}`) };
  const { summary } = schema;
  const body = route.config?.describedBody
    ? {
        content: {
          ...(schema.body ? { 'application/json': { schema: schema.body } } : {}),
          ...route.config.describedBody,
        },
      }
    : [route.preValidation].flat().some((hook) => hook === allowNoBody)
      ? { ...fieldsOf(schema.body), [OPTIONAL]: true }
      : schema.body;
  return { ...schema, ...(body ? { body } : {}), description: schema.description ?? `${summary}.`, response };
}

/** Marks the schema of an optional body, until `describeBody` has handled it. */
const OPTIONAL = 'x-optional';
const CODES = namesOf(MESSAGES);

/** States whether a body is required. @fastify/swagger treats every body as required. */
export function describeBody({ requestBody: body }: DescribedOperation): void {
  const schema = body?.content?.['application/json']?.schema;
  if (!body || !schema?.[OPTIONAL]) return;
  delete schema[OPTIONAL];
  body.required = false;
}

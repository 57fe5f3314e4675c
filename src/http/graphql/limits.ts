import type { GraphQLError } from 'graphql';
import { late } from '../../values/late.ts';

const graphql = late((require) => require('graphql') as typeof import('graphql'));

/**
 * All limits of the GraphQL endpoint, with the names that its errors use. A request within all of them costs so little that others do not
 * wait for it (docs/graphql.md, Limits; docs/decisions.md, 6). The names must not change, because callers read them in errors.
 */
export const LIMITS = {
  /** Bytes of a request body, the same as everywhere in the API. */
  BODY_BYTES: 1_048_576,
  /** Characters of `query`. */
  DOCUMENT_CHARACTERS: 20_000,
  /** Lexical tokens of `query`. */
  TOKENS: 2_000,
  /** Nesting of selection sets, with fragments resolved. The introspection query of common tools has 14. */
  DEPTH: 20,
  /** Fields of all operations. A fragment counts as often as it is spread. */
  FIELDS: 500,
  /** Fields with an alias, counted in the same way. */
  ALIASES: 30,
  /** Fields of the operation itself. */
  ROOT_FIELDS: 10,
  /** Connections that an operation opens, with fragments resolved. They are the largest part of the cost of its plan. */
  CONNECTIONS: 30,
  /** Directives in the document. */
  DIRECTIVES: 20,
  /** Fragments that are spread anywhere in the document. */
  SPREADS: 100,
  /** Nesting of lists in the schema's description, as counted by graphql-js. */
  INTROSPECTION_DEPTH: 3,
  /** Values that may be in the answer: every field, including `__typename`, times the pages and lists around it. A URL counts as ten. */
  COST: 20_000,
  /** Estimated values in the answer of an introspection: enough for two full descriptions of the schema. */
  INTROSPECTION_COST: 150_000,
  /** Entries of a page: `first` and `last`. */
  PAGE: 1_000,
  /** Entries that `offset` skips. A cursor has no such limit. */
  OFFSET: 100_000,
  /** Values in `variables`, including those in lists and objects. */
  VARIABLE_VALUES: 1_000,
  /** Nesting of lists and objects in `variables`. */
  VARIABLE_DEPTH: 8,
  /** Bytes of all notification and attempt bodies in an answer, as JSON. Each counts as often as the operation names the field. */
  RESPONSE_BODY_BYTES: 8_388_608,
  /** Bytes of the headers of all attempts in an answer, counted in the same way. */
  RESPONSE_HEADER_BYTES: 2_097_152,
  /** Milliseconds for a database statement. */
  STATEMENT_MS: 2_000,
} as const;

export type LimitName = keyof typeof LIMITS;
/** Limits that are counted while an operation is executed. */
export type TextLimit = 'RESPONSE_BODY_BYTES' | 'RESPONSE_HEADER_BYTES';

/**
 * The error for an exceeded limit.
 * @param name of the limit; part of the message and of `extensions`
 * @param said what exceeds it, for example `The document is nested 31 levels deep`
 * @param advice what to do instead
 */
export function limitError(name: LimitName, said: string, advice = ''): GraphQLError {
  const hint = advice === '' ? '' : `; ${advice}`;
  return new (graphql().GraphQLError)(`${said}: the limit is ${LIMITS[name]} (${name})${hint}`, {
    extensions: { code: 'limit_exceeded', limit: name },
  });
}

import type { GraphQLError } from 'graphql';
import { late } from '../../values/late.ts';

const graphql = late((require) => require('graphql') as typeof import('graphql'));

/**
 * Every limit of the GraphQL endpoint, and the error that names it. A request within all of them costs so little that
 * others do not wait for it (docs/graphql.md, Limits; docs/decisions.md, 6). Callers read the names in errors:
 * they do not change.
 */
export const LIMITS = {
  /** Bytes of a request body, as everywhere in the API. */
  BODY_BYTES: 1_048_576,
  /** Characters of `query`. */
  DOCUMENT_CHARACTERS: 20_000,
  /** Lexical tokens of `query`. */
  TOKENS: 2_000,
  /** Selection sets inside each other, fragments resolved. The introspection query of common tools has 14. */
  DEPTH: 20,
  /** Fields of all operations, each fragment counted as often as it is spread. */
  FIELDS: 500,
  /** Fields with an alias, counted in the same way. */
  ALIASES: 30,
  /** Fields of the operation itself. */
  ROOT_FIELDS: 10,
  /** Connections that an operation opens, fragments resolved: the largest part of the cost of its plan. */
  CONNECTIONS: 30,
  /** Directives in the document. */
  DIRECTIVES: 20,
  /** Fragments that are spread anywhere in the document. */
  SPREADS: 100,
  /** Lists of the schema's description inside each other, as graphql-js counts them. */
  INTROSPECTION_DEPTH: 3,
  /** Values that may be answered: every field, also `__typename`, times the pages and lists around it. A URL counts as ten. */
  COST: 20_000,
  /** Values that introspection may answer, estimated: two full descriptions of the schema. */
  INTROSPECTION_COST: 150_000,
  /** Entries of a page: `first` and `last`. */
  PAGE: 1_000,
  /** Entries that `offset` passes over; a cursor has no such limit. */
  OFFSET: 100_000,
  /** Values in `variables`, in lists and objects too. */
  VARIABLE_VALUES: 1_000,
  /** Lists and objects inside each other in `variables`. */
  VARIABLE_DEPTH: 8,
  /** Bytes of all notification and attempt bodies of an answer, as JSON, each as often as the operation names the field. */
  RESPONSE_BODY_BYTES: 8_388_608,
  /** Bytes of the headers of all attempts of an answer, counted in the same way. */
  RESPONSE_HEADER_BYTES: 2_097_152,
  /** Milliseconds of a database statement. */
  STATEMENT_MS: 2_000,
} as const;

export type LimitName = keyof typeof LIMITS;
/** Limits that are counted while an operation is executed. */
export type TextLimit = 'RESPONSE_BODY_BYTES' | 'RESPONSE_HEADER_BYTES';

/**
 * The error for a limit that is exceeded.
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

import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { isSafeError } from 'postgraphile/grafast';
import { Problem } from '../../values/errors.ts';
import { codeOf } from '../../values/unknown.ts';
import { INSTANT } from './dates.ts';
import { limitError } from './limits.ts';

/** The most errors in one answer. A page of rows may have one for each row. */
const MAX_ERRORS = 20;
/** Longer messages are cut, because some repeat what the caller sent. */
const MAX_MESSAGE_CHARACTERS = 1_000;
/** PostgreSQL's SQLSTATEs for a text that is not a date, and for a date that does not exist. */
const NO_DATE = new Set(['22007', '22008']);
/** PostgreSQL's SQLSTATE for a cancelled statement; here the cause is its timeout. */
const QUERY_CANCELED = '57014';

/**
 * The `errors` of an answer: messages for developers, never SQL or a stack (service interface, Errors).
 * @param translate turns any other failure into a Problem
 * @param misspelt finds the path of a date that cannot be read
 * @throws Problem integration_error if the service, and not the request, is at fault
 */
export function errorList(
  errors: readonly GraphQLError[],
  translate: (error: unknown) => Problem,
  misspelt: () => string | undefined,
): GraphQLFormattedError[] {
  const listed: GraphQLFormattedError[] = [];
  for (const error of errors) {
    const { message, ...shown } = show(error, translate, misspelt);
    const short = message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}...` : message;
    if (listed.length < MAX_ERRORS) listed.push({ message: short, ...shown });
  }
  return listed;
}

function show(
  error: GraphQLError,
  translate: (error: unknown) => Problem,
  misspelt: () => string | undefined,
): GraphQLFormattedError {
  const cause = error.originalError;
  if (cause === undefined || isSafeError(cause)) return error.toJSON();
  if (cause instanceof GraphQLError) return { ...error.toJSON(), extensions: cause.extensions };
  const place = {
    ...(error.locations ? { locations: error.locations } : {}),
    ...(error.path ? { path: error.path } : {}),
  };
  if (codeOf(cause) === QUERY_CANCELED) {
    const slow = limitError(
      'STATEMENT_MS',
      'The database took too long',
      'ask for smaller pages, or without totalCount',
    );
    return { ...slow.toJSON(), ...place };
  }
  const field = NO_DATE.has(codeOf(cause) ?? '') ? misspelt() : undefined;
  const problem =
    field === undefined ? translate(cause) : new Problem('invalid_parameter', { field, message: INSTANT });
  if (problem.code === 'integration_error') throw problem;
  return { message: `${problem.details}`, ...place, extensions: { code: problem.code } };
}

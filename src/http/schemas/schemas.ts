import { type Static, type TSchema, Type } from 'typebox';
import type { ListRequest } from '../../database/rows.ts';
import { MAX_LIST_ITEMS } from '../../values/comma-list.ts';
import { type ErrorCode, FAULTS, MESSAGES } from '../../values/errors.ts';
import { ClientId, formed, Nullable, Text, UuidOfRecord } from '../../values/schemas.ts';
import { STATUS } from './problem.ts';

/** Parts of request and response schemas that several domains use. */

export const MAX_PAGE = 2_147_483_647;
const MAX_PAGE_SIZE = 1_000;

/** The reason of a person who approves, rejects or cancels. */
export const Reason = Type.Optional(Text('Why; the payment, its timeline and the audit trail show it'));
/** The query of a client API operation without further parameters. */
export const ClientQuery = Type.Object({ client_id: ClientId });

export const ErrorMessage = Type.Object(
  {
    code: Type.String({
      enum: Object.keys(MESSAGES),
      description: 'Error code: one of the list, or one that a later version adds',
      ...formed({ anyOf: [{ type: 'string', enum: Object.keys(MESSAGES) }, { type: 'string' }] }),
    }),
    message: Type.String({ description: 'Short description of the cause' }),
    details: Type.String({ description: 'The field, and what it must be' }),
  },
  {
    title: 'ErrorMessage',
    examples: [
      {
        code: 'invalid_parameter',
        message: MESSAGES.invalid_parameter,
        details: 'query.page_size: must be at most 1000',
      },
    ],
  },
);

/** A refused order: the first fault, and all of them. */
const InvalidBody = Type.Object(
  {
    ...ErrorMessage.properties,
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          code: Type.String({ description: 'What is wrong' }),
          message: Type.String({ description: 'Short description of the cause' }),
          details: Type.String({ description: 'The field, and what it must be; never a bank detail' }),
          request_index: Nullable(Type.Integer({ description: 'The element of the list, from 0; null outside lists' })),
        }),
        {
          description: 'All faults, at most 1,000, in the order of the elements. A body that is not an object has none',
        },
      ),
    ),
  },
  {
    title: 'InvalidBody',
    examples: [
      {
        code: 'invalid_body',
        message: FAULTS.required,
        details: 'body.name: is required',
        errors: [
          { code: 'required', message: FAULTS.required, details: 'body.name: is required', request_index: null },
          {
            code: 'invalid_iban',
            message: FAULTS.invalid_iban,
            details: 'body.iban: must have the length of its country and correct check digits',
            request_index: null,
          },
        ],
      },
    ],
  },
);

/** Like `errors`, for an operation that takes an order. Its refusals list all faults. */
export function orderErrors(...expected: (number | ErrorCode)[]): Record<number, object> {
  const answers = errors(...expected);
  const listing = { content: { 'application/json': { schema: InvalidBody } } };
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      ['400', '404', '409'].includes(status) ? { ...answer, ...listing } : answer,
    ]),
  );
}

/** A filter for records that can be disabled. */
export const Status = Type.Enum(['enabled', 'disabled'], { description: 'Only those with this status' });

/** The query of a change that can be tried without being made. */
export const ValidateOnly = {
  validate_only: Type.Optional(
    Type.Boolean({ description: 'All checks, and what success would say; nothing is kept, and no key is taken' }),
  ),
};

/**
 * The error answers of an operation, for its `response` schema: the given statuses, those of the given codes, 401 and 429. Give the codes
 * that the operation itself can answer. The description adds those that every operation of its listener can.
 */
export function errors(...expected: (number | ErrorCode)[]): Record<number, object> {
  const codes = expected.filter((each) => typeof each === 'string');
  const statuses = expected.filter((each) => typeof each === 'number');
  const all = [...new Set([...statuses, ...codes.map((code) => STATUS[code]), 401, 429])].sort();
  return Object.fromEntries(
    all.map((status) => [
      status,
      { ...errorAnswer(status), 'x-codes': codes.filter((code) => STATUS[code] === status) },
    ]),
  );
}

/** An answer whose body is an ErrorMessage. */
export function errorAnswer(status: number): object {
  return {
    description: DESCRIPTIONS[status] ?? 'The request failed',
    content: { 'application/json': { schema: ErrorMessage } },
  };
}

const DESCRIPTIONS: Record<number, string> = {
  400: 'Validation of the format, a parameter or the body failed',
  401: 'The access token is missing, not valid or expired',
  403: 'The contact or the client may not do this',
  404: 'The entity does not exist, or belongs to another client',
  405: 'The method is not allowed at this address',
  408: 'The body did not arrive in time',
  409: 'The current state does not allow this',
  413: 'The body is too large',
  415: 'The content type is not supported',
  429: 'Too many requests',
  502: 'Something that the service depends on has failed',
  503: 'The service stops, or moves the client to another cell',
};

/** An answer with a JSON body, for the `response` schema of an operation. */
export interface JsonAnswer<S> {
  description: string;
  headers?: object;
  content: { 'application/json': { schema: S } };
}
export function jsonAnswer<S>(description: string, schema: S, headers?: object): JsonAnswer<S> {
  return { description, ...(headers ? { headers } : {}), content: { 'application/json': { schema } } };
}

/** The headers of a list's answer. */
export const TOTAL_COUNT = {
  'x-total-count': { type: 'integer', description: 'Number of entries in the whole list', example: 3 },
};

/** A page of a list. */
export const listAnswer = <S extends TSchema>(description: string, schema: S) =>
  jsonAnswer(description, Type.Array(schema), TOTAL_COUNT);

/** A path with one parameter: an identifier. */
export const idPath = <Name extends string>(name: Name) => Type.Object(only(name, Type.String()));
/** A path with one parameter: a UUID. */
export const uuidPath = <Name extends string>(name: Name, description: string) =>
  Type.Object(only(name, UuidOfRecord(description)));
const only = <Name extends string, S extends TSchema>(name: Name, schema: S) => ({ [name]: schema }) as Record<Name, S>;

export const DEFAULT_PAGE_SIZE = 50;
export const Paging = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1, description: 'Page, from 1' })),
  page_size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE, description: 'Entries on a page' }),
  ),
};
/** The paging of a short list, which is complete if no page is requested. */
export const ShortListQuery = Type.Object({
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_PAGE, description: 'Page, from 1; default: the whole list' }),
  ),
  page_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      description: `Entries on a page; with page: ${DEFAULT_PAGE_SIZE}`,
    }),
  ),
});

/** A page of a list, after the schema has filled in its defaults. */
export interface Page {
  page: number;
  page_size: number;
}
export const PageQuery = Type.Object(Paging);

/** The rows of a page. */
export function rowsOf({ page = 1, page_size: limit = DEFAULT_PAGE_SIZE }: Partial<Page>): {
  limit: number;
  offset: number;
} {
  return { limit, offset: (page - 1) * limit };
}

/** The requested page in the form that domains take. */
export function listRequest({
  page = 1,
  page_size: pageSize = DEFAULT_PAGE_SIZE,
  client_id: clientId,
}: Static<typeof ClientPageQuery>): ListRequest {
  return { page, pageSize, clientId };
}

export const ClientPageQuery = Type.Object({ ...Paging, client_id: Type.Optional(Type.String({ minLength: 1 })) });

/** A comma-separated list whose items match a pattern; surrounding blanks are ignored (comma-list.ts). */
export const listParameter = (description: string, item: string, example: string) =>
  Type.Optional(requiredList(description, item, example));
/** Like `listParameter`, for a required list. */
export const requiredList = (description: string, item: string, example: string) =>
  Type.String({
    'x-list': true,
    description: `${description}, comma separated, at most ${MAX_LIST_ITEMS}`,
    examples: [example],
    ...formed({ type: 'string', pattern: `^${item}(?:,${item})*$` }),
  });
/** The code of a currency in a list. */
export const CURRENCY_ITEM = '\\s*[A-Z]{3}\\s*';
/** One of the given words in a list. */
export const wordItem = (words: readonly string[]) => `\\s*(?:${words.join('|')})\\s*`;

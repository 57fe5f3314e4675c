import { MAX_PARAMETER_LENGTH } from '../../../identity/parameters.ts';

type Json = Record<string, unknown>;

/** The example text for each error of RFC 6749, 5.2 and RFC 6750, 3.1. */
const ERRORS = {
  invalid_request: 'grant_type: is required',
  invalid_client: 'the application must authenticate: header Authorization, Basic client_id:client_secret',
  invalid_grant: 'code: is not valid, has expired or was used already',
  unauthorized_client: 'the application may not do this',
  unsupported_grant_type: 'grant_type: must be authorization_code or refresh_token',
  unsupported_response_type: 'response_type: must be code',
  invalid_scope: 'scope: must contain openid',
  invalid_token: 'the access token is missing, malformed, unknown or revoked',
  temporarily_unavailable: 'the limit is 60 requests a minute; try again in 12 seconds',
  server_error: 'the database does not answer; try again in a moment',
};
export type OAuthCode = keyof typeof ERRORS;

export const text = (description: string) => ({ type: 'string', description });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const headersOf = (...names: string[]) =>
  Object.fromEntries(
    ['x-request-id', 'RateLimit', 'RateLimit-Policy', ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );

/** `{error, error_description}` (RFC 6749, 5.2). */
export const OAUTH_ERROR = {
  type: 'object',
  required: ['error', 'error_description'],
  properties: {
    error: {
      description: 'Error code: one of the list, or one that a later version adds',
      anyOf: [{ type: 'string', enum: Object.keys(ERRORS) }, { type: 'string' }],
    },
    error_description: text('For developers'),
  },
  examples: [{ error: 'invalid_request', error_description: ERRORS.invalid_request }],
};

/** The codes that reading a form can produce. */
export const READING: Record<number, OAuthCode[]> = { 413: ['invalid_request'], 415: ['invalid_request'] };

/** For a person, a page says the same as the JSON body. */
const PAGE = { 'text/html': { schema: { type: 'string', description: 'A page that says what is wrong' } } };

/** @param pages whether a browser gets a page with the same status */
function refusals(codes: Record<number, OAuthCode[]>, pages: boolean): Json {
  const all: Record<number, OAuthCode[]> = { ...codes, 429: ['temporarily_unavailable'], 502: ['server_error'] };
  return Object.fromEntries(
    Object.entries(all).map(([status, list]) => {
      const examples = list.map((code) => [code, { value: { error: code, error_description: ERRORS[code] } }]);
      return [
        status,
        {
          description: list.join(', '),
          headers: {
            ...headersOf(),
            ...(status === '401' ? headersOf('WWW-Authenticate') : {}),
            ...(status === '429' ? headersOf('Retry-After') : {}),
          },
          content: {
            'application/json': { schema: ref('OAuthError'), examples: Object.fromEntries(examples) },
            ...(pages ? PAGE : {}),
          },
        },
      ];
    }),
  );
}

/** A form body. If no field is required, the body is optional. A required field must not be empty, because an empty one counts as absent. */
export const form = (properties: Record<string, Json>, required: string[]) => ({
  required: required.length > 0,
  content: {
    'application/x-www-form-urlencoded': {
      schema: {
        type: 'object',
        ...(required.length > 0 ? { required } : {}),
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, schema]) => [
            name,
            required.includes(name) && !('enum' in schema) ? { ...schema, minLength: 1 } : schema,
          ]),
        ),
      },
    },
  },
});

/** A field or a parameter: a text without control characters. An empty one counts as absent. */
export const field = (description: string, maxLength = MAX_PARAMETER_LENGTH) => ({
  ...text(description),
  maxLength,
  pattern: '^[^\\x00-\\x1f\\x7f]*$',
});

/** An answer, with a JSON body if a schema is named. */
export const answer = (description: string, schema?: string) => ({
  description,
  headers: headersOf(),
  ...(schema ? { content: { 'application/json': { schema: ref(schema) } } } : {}),
});

/** A page for a browser. */
export const page = (description: string) => ({
  description,
  headers: headersOf(),
  content: { 'text/html': { schema: { type: 'string' } } },
});

/** A redirect. */
export const redirect = (description: string) => ({
  description,
  headers: {
    ...headersOf(),
    Location: { description: 'Where the browser goes', schema: { type: 'string', format: 'uri' } },
  },
});

/** A query parameter. @param schema further conditions, besides being a text of one line */
export const parameter = (
  name: string,
  { description, ...schema }: Json & { description: string },
  example?: string,
): Json => ({
  name,
  in: 'query',
  required: example !== undefined,
  description,
  schema: example === undefined ? schema : { minLength: 1, ...schema },
  ...(example === undefined ? {} : { example }),
});

interface Described {
  operationId: string;
  tag: 'sign-in' | 'tokens';
  /** Whether browsers are answered with pages, including for refusals (errors.ts). */
  pages?: boolean;
  summary: string;
  description: string;
  success: Record<number, Json>;
  codes: Record<number, OAuthCode[]>;
  security?: Json[];
  requestBody?: Json;
  parameters?: Json[];
  servers?: Json[];
}

/** An operation. Without `security` the application authenticates. */
export function operation(described: Described): Json {
  const { tag, pages = false, success, codes, security = [{ application: [] }], ...rest } = described;
  return { ...rest, tags: [tag], security, responses: { ...success, ...refusals(codes, pages) } };
}

import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';

/** Version of the API's description (the service interface, Versioning). */
const API_VERSION = '0.1';

type Json = Record<string, unknown>;

/** What each error of RFC 6749, 5.2 and RFC 6750, 3.1 says in its example. */
const ERRORS = {
  invalid_request: 'grant_type: is required',
  invalid_client: 'the application must authenticate: header Authorization, Basic client_id:client_secret',
  invalid_grant: 'code: is not valid, has expired or was used already',
  unauthorized_client: 'the application may not do this',
  unsupported_grant_type: 'grant_type: must be authorization_code or refresh_token',
  invalid_scope: 'scope: must contain openid',
  invalid_token: 'the access token is missing, malformed, unknown or revoked',
  temporarily_unavailable: 'the limit is 60 requests a minute; try again in 12 seconds',
  server_error: 'the database does not answer; try again in a moment',
};
type OAuthCode = keyof typeof ERRORS;

const text = (description: string) => ({ type: 'string', description });
const header = (description: string, type: string, example: unknown) => ({ description, schema: { type }, example });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const SCHEMAS = {
  OAuthError: {
    type: 'object',
    required: ['error', 'error_description'],
    properties: {
      error: { ...text('Error code'), enum: Object.keys(ERRORS) },
      error_description: text('For developers'),
    },
  },
  Tokens: {
    type: 'object',
    required: ['token_type', 'access_token', 'refresh_token', 'expires_in', 'scope'],
    properties: {
      token_type: text('Bearer'),
      access_token: text('Sent to the client API'),
      refresh_token: text('Gets the next tokens'),
      expires_in: { type: 'integer', description: 'Seconds' },
      id_token: text('A JSON Web Token; `clients` lists the clients of the contact. Not for a public application'),
      scope: text('What was granted'),
    },
  },
  Introspection: {
    type: 'object',
    required: ['active'],
    properties: { active: { type: 'boolean' }, sub: text('The contact'), client_id: text('The application') },
    additionalProperties: true,
  },
  UserInfo: { type: 'object', required: ['sub'], properties: { sub: text('The contact') }, additionalProperties: true },
  Metadata: {
    type: 'object',
    required: ['issuer', 'token_endpoint'],
    properties: {
      issuer: text('Address of the authorization server'),
      token_endpoint: text('Where tokens are issued'),
    },
    additionalProperties: true,
  },
};

function refusals(codes: Record<number, OAuthCode[]>): Json {
  const all: Record<number, OAuthCode[]> = { ...codes, 429: ['temporarily_unavailable'], 502: ['server_error'] };
  return Object.fromEntries(
    Object.entries(all).map(([status, list]) => [
      status,
      {
        description: list.join(', '),
        headers: {
          'x-request-id': { $ref: '#/components/headers/x-request-id' },
          ...(status === '429' ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : {}),
        },
        content: {
          'application/json': {
            schema: ref('OAuthError'),
            examples: Object.fromEntries(
              list.map((code) => [code, { value: { error: code, error_description: ERRORS[code] } }]),
            ),
          },
        },
      },
    ]),
  );
}

const form = (fields: Record<string, Json>, required: string[]) => ({
  required: true,
  content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', required, properties: fields } } },
});
const answer = (description: string, schema?: string) => ({
  description,
  headers: { 'x-request-id': { $ref: '#/components/headers/x-request-id' } },
  ...(schema ? { content: { 'application/json': { schema: ref(schema) } } } : {}),
});

interface Described {
  operationId: string;
  summary: string;
  description: string;
  success: Json;
  codes: Record<number, OAuthCode[]>;
  security?: Json[];
  requestBody?: Json;
  parameters?: Json[];
}

function operation({ success, codes, security = [{ application: [] }], ...rest }: Described): Json {
  return { ...rest, tags: ['tokens'], security, responses: { 200: success, ...refusals(codes) } };
}

const READING: Record<number, OAuthCode[]> = { 413: ['invalid_request'], 415: ['invalid_request'] };
const TOKEN_FIELD = { token: text('An access token or a refresh token') };

const PATHS = {
  '/token': {
    post: operation({
      operationId: 'issueTokens',
      summary: 'Exchange a code or a refresh token for tokens',
      description: 'The application authenticates. A code works once, within 10 minutes.',
      requestBody: form(
        {
          client_id: text('Of a public application, as lombard-cli, in place of its authentication'),
          grant_type: { type: 'string', enum: ['authorization_code', 'refresh_token'] },
          code: text('With authorization_code'),
          redirect_uri: text('With authorization_code: as it was sent to /authenticate'),
          code_verifier: text('With PKCE (RFC 7636)'),
          refresh_token: text('With refresh_token'),
          scope: text('With refresh_token; default: as before'),
        },
        ['grant_type'],
      ),
      success: answer('The tokens', 'Tokens'),
      codes: {
        400: ['invalid_request', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'],
        401: ['invalid_client'],
        ...READING,
      },
    }),
  },
  '/revoke': {
    post: operation({
      operationId: 'revokeToken',
      summary: 'Revoke a token',
      description: 'RFC 7009. A token that is not known is answered as one that was revoked.',
      requestBody: form(TOKEN_FIELD, ['token']),
      success: answer('The token is not valid any more'),
      codes: { 400: ['invalid_request'], 401: ['invalid_client'], ...READING },
    }),
  },
  '/introspect': {
    post: operation({
      operationId: 'introspectToken',
      summary: 'Tell whether a token is valid',
      description: 'RFC 7662.',
      requestBody: form(TOKEN_FIELD, ['token']),
      success: answer('What the token stands for', 'Introspection'),
      codes: { 400: ['invalid_request'], 401: ['invalid_client'], ...READING },
    }),
  },
  '/userinfo': {
    get: operation({
      operationId: 'getUserInfo',
      summary: 'Read who the token stands for',
      description: 'OpenID Connect Core, 5.3.',
      security: [{ accessToken: [] }],
      success: answer('The contact', 'UserInfo'),
      codes: { 401: ['invalid_token'] },
    }),
  },
  '/.well-known/openid-configuration': {
    get: operation({
      operationId: 'getMetadata',
      summary: 'Read the metadata of the authorization server',
      description: 'OpenID Connect Discovery, 4; RFC 8414.',
      security: [],
      success: answer('The metadata', 'Metadata'),
      codes: {},
    }),
  },
};

/** GET /openapi.json of the authorization server: what programs call. Browsers are sent to /authenticate, which has pages. */
export function describeAuthorizationServer(app: FastifyInstance, { addresses, config }: Context): void {
  app.get('/openapi.json', (_request, reply) =>
    reply.send({
      openapi: '3.1.0',
      info: {
        title: 'Lombard authorization server',
        version: API_VERSION,
        description: 'Issues, refreshes and revokes tokens (RFC 6749, OpenID Connect).',
        contact: { name: config.institution.name },
        license: { name: 'Unlicensed', identifier: 'LicenseRef-UNLICENSED' },
      },
      servers: [{ url: addresses.auth }],
      tags: [{ name: 'tokens', description: 'Tokens and who they stand for' }],
      paths: PATHS,
      components: {
        schemas: SCHEMAS,
        headers: {
          'x-request-id': header('Identifies the request in logs', 'string', '6f1d0a52-5d1c-4b8e-9a3e-0f6f6d3b2c11'),
          'Retry-After': header('Seconds to wait before the next request', 'integer', 12),
        },
        securitySchemes: {
          application: { type: 'http', scheme: 'basic', description: 'client_id and client_secret of the application' },
          accessToken: { type: 'http', scheme: 'bearer', description: 'An access token' },
        },
      },
    }),
  );
}

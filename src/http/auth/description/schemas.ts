import { METADATA } from './metadata.ts';
import { text } from './operation.ts';

const REDIRECTED = { type: 'object', required: ['code'], properties: { code: text('The authorization code') } };

const TOKENS = {
  token_type: 'Bearer',
  access_token: '4Ft0Zb3kV1x7o2h0T0mO6Rk1c2s3q4w5e6r7t8y9u0i',
  refresh_token: 'nPq3kV1x7o2h0T0mO6Rk1c2s3q4w5e6r7t8y9u0i1o2',
  expires_in: 3_600,
  id_token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJDT04wMDAwMDEifQ.c2lnbmF0dXJl',
  scope: 'openid',
};

/** The answers of the authorization server, except errors. */
export const SCHEMAS = {
  AuthorizationCode: { ...REDIRECTED, examples: [{ code: 'Zb3kV1x7o2h0T0mO6Rk1c2s3q4w5e6r7t8y9u0i1o2p' }] },
  SignedIn: {
    type: 'object',
    required: ['code'],
    properties: {
      code: text('The authorization code; with `second_factor` the handle of that step'),
      second_factor: { type: 'string', enum: ['totp', 'sms'], description: 'Only where a verification code is needed' },
    },
    examples: [{ code: 'Zb3kV1x7o2h0T0mO6Rk1c2s3q4w5e6r7t8y9u0i1o2p' }],
  },
  Tokens: {
    type: 'object',
    required: ['token_type', 'access_token', 'refresh_token', 'expires_in', 'scope'],
    properties: {
      token_type: text('Bearer'),
      access_token: text('Sent to the client API'),
      refresh_token: text('Gets the next tokens'),
      expires_in: { type: 'integer', description: 'Seconds' },
      id_token: text(
        'A JSON Web Token (HS256, signed with the client secret); `clients` lists the clients of the contact. Not for a public application',
      ),
      scope: text('What was granted'),
    },
    examples: [TOKENS],
  },
  Introspection: {
    type: 'object',
    required: ['active'],
    properties: {
      active: { type: 'boolean' },
      iss: text('Address of the authorization server'),
      sub: text('The contact'),
      client_id: text('The application'),
      scope: text('What was granted'),
      token_type: text('Bearer; for access tokens only'),
      iat: { type: 'integer', description: 'When it was issued, in seconds since 1970' },
      exp: { type: 'integer', description: 'When it expires, in seconds since 1970' },
      cnf: {
        type: 'object',
        description: 'The certificate that the token is bound to (RFC 8705)',
        properties: { 'x5t#S256': text('Its SHA-256 thumbprint') },
      },
    },
    examples: [{ active: false }],
  },
  UserInfo: {
    type: 'object',
    required: ['sub'],
    properties: {
      sub: text('The contact'),
      name: text('Its name'),
      email: text('Its email'),
      clients: {
        type: 'array',
        description: 'The clients it acts for',
        items: {
          type: 'object',
          required: ['client_id', 'client_name'],
          properties: { client_id: text('The client_id of API calls'), client_name: text('Name of the client') },
        },
      },
    },
    examples: [
      {
        sub: 'CON000001',
        name: 'Ada Byron',
        email: 'ada@acme.example',
        clients: [{ client_id: 'CLI000001', client_name: 'Acme Ltd' }],
      },
    ],
  },
  AvailableContacts: {
    type: 'object',
    required: ['data'],
    properties: { data: { type: 'array', items: { type: 'string' }, description: 'Identifiers of contacts' } },
    examples: [{ data: ['CON000001'] }],
  },
  Metadata: METADATA,
  KeySet: {
    type: 'object',
    required: ['keys'],
    properties: { keys: { type: 'array', items: { type: 'object' }, description: 'Empty: id_tokens use HS256' } },
    examples: [{ keys: [] }],
  },
};

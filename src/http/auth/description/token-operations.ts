import { answer, field, form, operation, READING } from './operation.ts';

const TOKEN_FIELD = { token: field('An access token or a refresh token') };

/** The operations that programs call: tokens, and information about their holders. */
export const TOKEN_OPERATIONS = {
  '/token': {
    post: operation({
      operationId: 'issueTokens',
      security: [{ application: [] }, {}],
      tag: 'tokens',
      summary: 'Exchange a code or a refresh token for tokens',
      description: 'The application authenticates. A code works once, within 10 minutes.',
      requestBody: form(
        {
          client_id: field('Of a public application, such as lombard-cli, which has no secret'),
          grant_type: { type: 'string', enum: ['authorization_code', 'refresh_token'] },
          code: field('With authorization_code'),
          redirect_uri: field('With authorization_code: as it was sent to /authenticate'),
          code_verifier: field('With PKCE (RFC 7636)'),
          refresh_token: field('With refresh_token'),
          scope: field('With refresh_token; default: as before'),
        },
        ['grant_type'],
      ),
      success: { 200: answer('The tokens', 'Tokens') },
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
      security: [{ application: [] }, {}],
      tag: 'tokens',
      summary: 'Revoke a token',
      description: 'RFC 7009. A token that is not known is answered as one that was revoked.',
      requestBody: form(TOKEN_FIELD, ['token']),
      success: { 200: answer('The token is not valid any more') },
      codes: { 400: ['invalid_request'], 401: ['invalid_client'], ...READING },
    }),
  },
  '/introspect': {
    post: operation({
      operationId: 'introspectToken',
      tag: 'tokens',
      summary: 'Tell whether a token is valid',
      description: 'RFC 7662.',
      requestBody: form(TOKEN_FIELD, ['token']),
      success: { 200: answer('What the token stands for', 'Introspection') },
      codes: { 400: ['invalid_request'], 401: ['invalid_client'], ...READING },
    }),
  },
  '/userinfo': {
    get: operation({
      operationId: 'getUserInfo',
      tag: 'tokens',
      summary: 'Read who the token stands for',
      description: 'OpenID Connect Core, 5.3.',
      security: [{ accessToken: [] }],
      success: { 200: answer('The contact', 'UserInfo') },
      codes: { 401: ['invalid_token'] },
    }),
    post: operation({
      operationId: 'postUserInfo',
      tag: 'tokens',
      summary: 'Read who the token stands for, by POST',
      description: 'OpenID Connect Core, 5.3.1.',
      security: [{ accessToken: [] }],
      success: { 200: answer('The contact', 'UserInfo') },
      codes: { 401: ['invalid_token'], ...READING },
    }),
  },
  '/.well-known/openid-configuration': {
    get: operation({
      operationId: 'getMetadata',
      tag: 'tokens',
      summary: 'Read the metadata of the authorization server',
      description: 'OpenID Connect Discovery, 4; RFC 8414.',
      security: [],
      success: { 200: answer('The metadata', 'Metadata') },
      codes: { 400: ['invalid_request'] },
    }),
  },
  '/jwks': {
    get: operation({
      operationId: 'getKeys',
      tag: 'tokens',
      summary: 'Read the public keys',
      description: 'RFC 7517. There are none: id_tokens are signed with the client secret.',
      security: [],
      success: { 200: answer('The keys', 'KeySet') },
      codes: { 400: ['invalid_request'] },
    }),
  },
};

/** Only at the trusted address: tokens for a contact of the institution, over mutual TLS. */
export const trustedToken = (trusted: string) => ({
  '/info/available-contacts': {
    get: operation({
      operationId: 'listAvailableContacts',
      tag: 'tokens',
      summary: 'List the contacts that the application may take tokens for',
      description: 'Contacts with trusted access that belong to a client for which the application may act.',
      servers: [{ url: trusted }],
      security: [{ application: [], mutualTLS: [] }],
      success: { 200: answer('The contacts', 'AvailableContacts') },
      codes: { 401: ['invalid_client'], ...READING },
    }),
  },
  '/token/{contact_id}': {
    post: operation({
      operationId: 'issueContactTokens',
      tag: 'tokens',
      summary: 'Get tokens for a contact over mutual TLS',
      description:
        'The subject of the certificate is registered for the application, and the contact has trusted access.',
      servers: [{ url: trusted }],
      security: [{ application: [], mutualTLS: [] }],
      parameters: [
        {
          name: 'contact_id',
          in: 'path',
          required: true,
          description: 'The contact',
          schema: { type: 'string' },
          example: 'CON000001',
        },
      ],
      requestBody: form({ grant_type: { type: 'string', enum: ['client_credentials'] } }, ['grant_type']),
      success: { 200: answer('The tokens', 'Tokens') },
      codes: {
        400: ['invalid_request', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'],
        401: ['invalid_client'],
        ...READING,
      },
    }),
  },
});

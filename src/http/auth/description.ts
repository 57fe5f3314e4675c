import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { HEADERS } from '../description/headers.ts';
import { OAUTH_ERROR } from './description/operation.ts';
import { SCHEMAS } from './description/schemas.ts';
import { SIGN_IN_OPERATIONS } from './description/sign-in-operations.ts';
import { TOKEN_OPERATIONS, trustedToken } from './description/token-operations.ts';

/** The version of the API's description (service interface, Versioning). */
const API_VERSION = '0.1';

/** GET /openapi.json of the authorization server. */
export function describeAuthorizationServer(app: FastifyInstance, { addresses, config }: Context): void {
  app.get('/openapi.json', (_request, reply) =>
    reply.send({
      openapi: '3.1.0',
      info: {
        title: 'Lombard authorization server',
        version: API_VERSION,
        description: 'Signs contacts in; issues, refreshes and revokes tokens (RFC 6749, OpenID Connect).',
        contact: { name: config.institution.name },
        license: { name: 'Unlicensed', identifier: 'LicenseRef-UNLICENSED' },
      },
      servers: [{ url: addresses.auth }],
      tags: [
        { name: 'sign-in', description: 'Sign a contact in, with its second factor, and out' },
        { name: 'tokens', description: 'Tokens and who they stand for' },
      ],
      paths: {
        ...SIGN_IN_OPERATIONS,
        ...TOKEN_OPERATIONS,
        ...(addresses.trusted === undefined ? {} : trustedToken(addresses.trusted)),
      },
      components: {
        schemas: { OAuthError: OAUTH_ERROR, ...SCHEMAS },
        headers: HEADERS,
        securitySchemes: {
          application: { type: 'http', scheme: 'basic', description: 'client_id and client_secret of the application' },
          accessToken: { type: 'http', scheme: 'bearer', description: 'An access token' },
          mutualTLS: { type: 'mutualTLS', description: 'The client certificate, at the trusted address' },
        },
      },
    }),
  );
}

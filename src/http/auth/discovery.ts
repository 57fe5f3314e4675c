import type { FastifyInstance } from 'fastify';
import type { AuthContext } from './auth-context.ts';
import { metadataOf } from './description/metadata.ts';

/** The metadata of the authorization server (OpenID Connect Discovery, 4; RFC 8414). It has no public keys, because id_tokens use HS256. */
export function discoveryRoutes(app: FastifyInstance, { context }: AuthContext): void {
  for (const path of ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']) {
    app.get(path, (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=300')
        .header('access-control-allow-origin', '*')
        .send(metadataOf(context.addresses)),
    );
  }
  app.get('/jwks', (_request, reply) => reply.header('cache-control', 'public, max-age=300').send({ keys: [] }));
}

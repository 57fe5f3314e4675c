import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError } from '../../identity/oauth-error.ts';
import { findUserinfo } from '../../identity/tokens/userinfo.ts';
import type { AuthContext } from './auth-context.ts';

/** GET and POST /userinfo (OpenID Connect Core, 5.3). */
export function userinfoRoutes(app: FastifyInstance, auth: AuthContext): void {
  app.route({ method: ['GET', 'POST'], url: '/userinfo', handler: (request, reply) => userinfo(auth, request, reply) });
}

async function userinfo(
  { context, sessions, certificateOf }: AuthContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const token = /^bearer +([A-Za-z0-9_-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined)
    throw new OAuthError('invalid_token', 'header.Authorization: must be Bearer and the access token');
  const session = await sessions.find(token);
  if (session.thumbprint !== null && session.thumbprint !== certificateOf?.(request).thumbprint) {
    throw new OAuthError('invalid_token', 'the access token is bound to a certificate');
  }
  return reply.header('cache-control', 'no-store').send(await findUserinfo(context.pool, session));
}

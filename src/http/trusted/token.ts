import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import type { ClientCertificate } from '../../identity/applications/client-certificate.ts';
import type { Sessions } from '../../identity/tokens/sessions.ts';
import { Problem } from '../../values/errors.ts';
import { createAuthContext } from '../auth/auth-context.ts';
import { answerOAuthErrors } from '../auth/errors.ts';
import { readForms } from '../auth/form.ts';
import { limitRequests } from '../auth/request-limits.ts';
import { tokenRoutes, userinfoRoutes } from '../auth/token.ts';
import type { ClientRoutes } from '../client/listener.ts';
import { peerOf } from '../server/peer.ts';

/**
 * The token operations of the trusted listener: those of the authorization listener, with the certificate of the request. They have a scope
 * of their own, because the API operations of the same listener take no forms and answer no OAuth errors.
 */
export function trustedTokenRoutes(sessions: Sessions): ClientRoutes {
  return async (app: FastifyInstance, context: Context) => {
    const auth = createAuthContext(context, sessions, certificateOf);
    await app.register(async (scope) => {
      answerOAuthErrors(scope);
      readForms(scope);
      // The certificate and the application's credentials take the place of an access token.
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, open: true };
      });
      limitRequests(scope, auth);
      tokenRoutes(scope, auth);
      userinfoRoutes(scope, auth);
    });
  };
}

function certificateOf(request: FastifyRequest): ClientCertificate {
  const peer = peerOf(request.raw);
  if (!peer)
    throw new Problem(
      'certificate_missing',
      'connection: the token operations of this address need a client certificate',
    );
  return { subject: peer.canonicalSubject, thumbprint: peer.thumbprint };
}

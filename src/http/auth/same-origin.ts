import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { OAuthError } from '../../identity/oauth-error.ts';

/**
 * Refuses a form that another site's page sends, so that no site can sign a visitor out, or in to somebody else's account.
 * Programs send neither of the two headers.
 * @throws OAuthError invalid_request
 */
export function requireSameOrigin(request: FastifyRequest, context: Context): void {
  const site = request.headers['sec-fetch-site'];
  const origin = request.headers.origin;
  const foreignSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  const foreignOrigin = origin !== undefined && origin !== new URL(context.addresses.auth).origin;
  if (foreignSite || foreignOrigin) {
    throw new OAuthError('invalid_request', 'the form was sent by a page of another origin', {
      status: 403,
      refusal: 'foreign',
    });
  }
}

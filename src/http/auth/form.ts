import { TextDecoder } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import { Parameters } from '../../identity/parameters.ts';

/** Makes a scope accept only forms. `request.body` is `Parameters`, or undefined for a request without a body. */
export function readForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser<Buffer>(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (_request, body, done) => {
      try {
        done(null, new Parameters(new TextDecoder('utf-8', { fatal: true }).decode(body)));
      } catch {
        done(new OAuthError('invalid_request', 'the body must be a form in UTF-8'));
      }
    },
  );
}

/** The fields of the posted form; empty for a request without a body. */
export function form(request: FastifyRequest): Parameters {
  return request.body instanceof Parameters ? request.body : new Parameters('');
}

/** The query parameters. */
export function query(request: FastifyRequest): Parameters {
  const start = request.url.indexOf('?');
  return new Parameters(start < 0 ? '' : request.url.slice(start + 1));
}

/** Whether a caller gets a page. Browsers do; a program that does not ask for HTML gets JSON. */
export function wantsPage(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? '';
  if (wantsCode(request) || /application\/json/.test(accept)) return false;
  return /text\/html/.test(accept) || request.method === 'GET';
}

/** Whether a caller gets the code in a JSON body instead of a redirect (service interface, POST /authenticate). */
export function wantsCode(request: FastifyRequest): boolean {
  return (
    String(request.headers['no-redirect'] ?? '')
      .trim()
      .toLowerCase() === 'application/json'
  );
}

/**
 * Refuses a form that another site's page sends, so that no site can sign a visitor out, or in to somebody else's account. Programs send
 * neither of the two headers.
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

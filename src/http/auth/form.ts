import { TextDecoder } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OAuthError } from '../../identity/oauth-error.ts';
import { Parameters } from '../../identity/parameters.ts';

/** Makes a scope accept forms and nothing else: `request.body` is `Parameters`, or undefined for a request without a body. */
export function readForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, new Parameters(new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer)));
    } catch {
      done(new OAuthError('invalid_request', 'the body must be a form in UTF-8'));
    }
  });
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

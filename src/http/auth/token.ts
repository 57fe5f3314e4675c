import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { first } from '../../database.ts';
import { idToken } from '../../identity/id-token.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import {
  ACCESS_TOKEN_LIFETIME,
  type IssuedTokens,
  introspect,
  issueTrusted,
  type JudgedCertificate,
  redeemCode,
  refresh,
  revokeToken,
} from '../../identity/tokens.ts';
import { type AuthenticatedApplication, authenticateApplication } from './application.ts';
import { form, type Identity } from './requests.ts';

/** RFC 7636, 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Gives the certificate of a request that came over mutual TLS; it has been judged before. */
export type CertificateOf = (request: FastifyRequest) => JudgedCertificate;

/**
 * POST /token, /revoke, /introspect, GET and POST /userinfo; on the trusted listener POST /token/{contact_id} too.
 * @param certificateOf on the trusted listener only: what is issued there is bound to the certificate (RFC 8705, 3)
 */
export function tokenRoutes(app: FastifyInstance, identity: Identity, certificateOf?: CertificateOf): void {
  const { context, applications, sessions } = identity;

  const authenticated = async (
    request: FastifyRequest,
  ): Promise<AuthenticatedApplication & { certificate: JudgedCertificate | undefined }> => {
    const proved = await authenticateApplication(applications, request, form(request));
    const certificate = certificateOf?.(request);
    if (certificate && !proved.application.certificateSubjects.has(certificate.subject)) {
      throw new OAuthError(
        'unauthorized_client',
        'the subject of the certificate is not registered for the application',
      );
    }
    return { ...proved, certificate };
  };

  app.post('/token', async (request, reply) => {
    const { application, secret, certificate } = await authenticated(request);
    const fields = form(request);
    const common = {
      applicationId: application.id,
      thumbprint: certificate?.thumbprint ?? null,
      now: context.clock.now(),
    };
    const grantType = fields.require('grant_type');
    if (grantType === 'authorization_code') {
      const verifier = fields.get('code_verifier');
      if (verifier !== undefined && !VERIFIER.test(verifier))
        throw new OAuthError('invalid_grant', 'code_verifier: is not one (RFC 7636, 4.1)');
      const given = { code: fields.require('code'), redirectUri: fields.require('redirect_uri'), verifier };
      return sendTokens(reply, identity, secret, await redeemCode(context.pool, { ...common, ...given }));
    }
    if (grantType === 'refresh_token') {
      const refreshToken = fields.require('refresh_token');
      // Client libraries leave the scope out of a refresh; one that is sent must be the one there is.
      const scope = fields.get('scope');
      if (scope !== undefined && !scope.split(' ').includes('openid'))
        throw new OAuthError('invalid_scope', 'scope: must contain openid');
      return sendTokens(reply, identity, secret, await refresh(context.pool, { ...common, refreshToken }));
    }
    throw new OAuthError('unsupported_grant_type', 'grant_type: must be authorization_code or refresh_token');
  });

  if (certificateOf) {
    app.post<{ Params: { contact_id: string } }>('/token/:contact_id', async (request, reply) => {
      const { application, secret, certificate } = await authenticated(request);
      if (form(request).require('grant_type') !== 'client_credentials') {
        throw new OAuthError('unsupported_grant_type', 'grant_type: must be client_credentials');
      }
      const { thumbprint } = certificate ?? certificateOf(request);
      const given = { applicationId: application.id, contactId: request.params.contact_id, thumbprint };
      const tokens = await issueTrusted(context.pool, { ...given, now: context.clock.now() });
      request.log.info(
        { requestId: request.id, application: application.id, contact: tokens.contactId },
        'token issued to a certificate',
      );
      return sendTokens(reply, identity, secret, tokens);
    });
  }

  app.post('/revoke', async (request, reply) => {
    const { application } = await authenticated(request);
    await revokeToken(context.pool, application.id, form(request).require('token'), context.clock.now());
    return reply.code(200).header('cache-control', 'no-store').send();
  });

  app.post('/introspect', async (request, reply) => {
    const { application } = await authenticated(request);
    const found = await introspect(context.pool, application.id, form(request).require('token'), context.clock.now());
    reply.header('cache-control', 'no-store');
    if (!found) return reply.send({ active: false });
    return reply.send({
      active: true,
      iss: context.addresses.auth,
      sub: found.contact_id,
      client_id: application.id,
      scope: 'openid',
      ...(found.kind === 'access_token' ? { token_type: 'Bearer' } : {}),
      iat: Math.floor(found.issued_at.getTime() / 1_000),
      exp: Math.floor(found.expires_at.getTime() / 1_000),
      ...(found.thumbprint === null ? {} : { cnf: { 'x5t#S256': found.thumbprint } }),
    });
  });

  app.route({
    method: ['GET', 'POST'],
    url: '/userinfo',
    handler: async (request, reply) => {
      const token = /^bearer +([A-Za-z0-9_-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
      if (token === undefined)
        throw new OAuthError('invalid_token', 'header.Authorization: must be Bearer and the access token');
      const session = await sessions.find(token);
      if (session.thumbprint !== null && session.thumbprint !== certificateOf?.(request).thumbprint) {
        throw new OAuthError('invalid_token', 'the access token is bound to a certificate');
      }
      const contact = first(
        await context.pool.query<{ name: string; email: string }>(
          'select name, email from contacts where contact_id = $1',
          [session.contactId],
        ),
      );
      const clients = [...session.clients].map(([client_id, { name }]) => ({ client_id, client_name: name }));
      return reply.header('cache-control', 'no-store').send({ sub: session.contactId, ...contact, clients });
    },
  });
}

/** The token response (the service interface, POST /token); `scope` says what was granted of a longer wish (RFC 6749, 5.1). */
function sendTokens(reply: FastifyReply, { context }: Identity, secret: string, tokens: IssuedTokens): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('pragma', 'no-cache')
    .send({
      token_type: 'Bearer',
      access_token: tokens.accessToken,
      refresh_token: tokens.refreshToken,
      expires_in: ACCESS_TOKEN_LIFETIME,
      id_token: idToken(context.addresses.auth, secret, tokens, context.clock.now()),
      scope: 'openid',
    });
}

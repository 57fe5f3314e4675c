import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RegisteredApplication } from '../../identity/applications/application-credentials.ts';
import { type ClientCertificate, requireRegistration } from '../../identity/applications/client-certificate.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import { redeemCode } from '../../identity/tokens/authorization-code.ts';
import { findUserinfo, idToken } from '../../identity/tokens/id-token.ts';
import {
  ACCESS_TOKEN_LIFETIME_SECONDS,
  type IssuedTokens,
  introspect,
  redeemRefreshToken,
  revokeToken,
} from '../../identity/tokens/issued-tokens.ts';
import { readTokenRequest } from '../../identity/tokens/token-request.ts';
import { issueTrustedTokens, trustedContacts } from '../../identity/tokens/trusted-grant.ts';
import { identifyApplication } from './application-authentication.ts';
import type { AuthContext } from './auth-context.ts';
import { form } from './form.ts';

type ContactRequest = FastifyRequest<{ Params: { contact_id: string } }>;

/** POST /token, /revoke and /introspect; on the trusted listener also POST /token/{contact_id}. */
export function tokenRoutes(app: FastifyInstance, auth: AuthContext): void {
  const limited = { config: { limit: 'token' as const } };
  app.post('/token', limited, (request, reply) => token(auth, request, reply));
  app.post('/revoke', limited, (request, reply) => revoke(auth, request, reply));
  app.post('/introspect', limited, (request, reply) => introspection(auth, request, reply));
  if (auth.certificateOf) {
    app.post('/token/:contact_id', limited, (request: ContactRequest, reply) => tokenForContact(auth, request, reply));
    app.get('/info/available-contacts', limited, (request, reply) => availableContacts(auth, request, reply));
  }
}

interface Authenticated {
  application: RegisteredApplication;
  /** Undefined for a public application. */
  secret: string | undefined;
  certificate: ClientCertificate | undefined;
}

/** Identifies the application, on the trusted listener also by its certificate. @throws OAuthError those of both checks */
async function authenticate(auth: AuthContext, request: FastifyRequest): Promise<Authenticated> {
  const identified = await identifyApplication(auth.applications, request, form(request));
  const certificate = auth.certificateOf?.(request);
  if (certificate) requireRegistration(identified.application, certificate);
  return { ...identified, certificate };
}

async function token(auth: AuthContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { pool, clock } = auth.context;
  const { application, secret, certificate } = await authenticate(auth, request);
  const asked = readTokenRequest(form(request));
  const issue = { applicationId: application.id, thumbprint: certificate?.thumbprint ?? null, now: clock.now() };
  const tokens =
    asked.grantType === 'authorization_code'
      ? await redeemCode(pool, { ...issue, ...asked })
      : await redeemRefreshToken(pool, { ...issue, ...asked });
  return sendTokens(reply, auth, secret, tokens);
}

/** Tokens for a contact, on behalf of its institution (service interface, POST {trusted_url}/token/{contact_id}). */
async function tokenForContact(auth: AuthContext, request: ContactRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { pool, clock } = auth.context;
  const { application, secret, certificate } = await authenticate(auth, request);
  if (form(request).require('grant_type') !== 'client_credentials') {
    throw new OAuthError('unsupported_grant_type', 'grant_type: must be client_credentials');
  }
  const { thumbprint } = certificate as ClientCertificate;
  const contactId = request.params.contact_id;
  const tokens = await issueTrustedTokens(pool, {
    applicationId: application.id,
    contactId,
    thumbprint,
    now: clock.now(),
  });
  request.log.info({ application: application.id, contact: tokens.contactId }, 'token issued to a certificate');
  return sendTokens(reply, auth, secret, tokens);
}

/** The contacts for which `POST /token/{contact_id}` gives tokens. */
async function availableContacts(
  auth: AuthContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { application, secret } = await authenticate(auth, request);
  if (secret === undefined) throw new OAuthError('invalid_client', 'a public application cannot authenticate');
  reply.header('cache-control', 'no-store');
  return reply.send({ data: await trustedContacts(auth.context.pool, application.id) });
}

async function revoke(auth: AuthContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { pool, clock } = auth.context;
  const { application } = await authenticate(auth, request);
  const revoked = form(request).require('token');
  await revokeToken(pool, { applicationId: application.id, token: revoked, now: clock.now() });
  return reply.code(200).header('cache-control', 'no-store').send();
}

async function introspection(auth: AuthContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { pool, clock, addresses } = auth.context;
  const { application, secret } = await authenticate(auth, request);
  if (secret === undefined)
    throw new OAuthError('invalid_client', 'a public application cannot authenticate, which RFC 7662, 2.1 asks for');
  const asked = form(request).require('token');
  const found = await introspect(pool, { applicationId: application.id, token: asked, now: clock.now() });
  reply.header('cache-control', 'no-store');
  if (!found) return reply.send({ active: false });
  return reply.send({
    active: true,
    iss: addresses.auth,
    sub: found.contact_id,
    client_id: application.id,
    scope: 'openid',
    ...(found.kind === 'access_token' ? { token_type: 'Bearer' } : {}),
    iat: Math.floor(found.issued_at.getTime() / 1_000),
    exp: Math.floor(found.expires_at.getTime() / 1_000),
    ...(found.thumbprint === null ? {} : { cnf: { 'x5t#S256': found.thumbprint } }),
  });
}

/**
 * Sends the token response (service interface, POST /token). `scope` states what was granted, as RFC 6749, 5.1 requires. The secret signs
 * the id_token. A public application has no secret, so it gets no id_token.
 */
function sendTokens(
  reply: FastifyReply,
  { context }: AuthContext,
  secret: string | undefined,
  tokens: IssuedTokens,
): FastifyReply {
  const { addresses, clock } = context;
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
  return reply.send({
    token_type: 'Bearer',
    access_token: tokens.accessToken,
    refresh_token: tokens.refreshToken,
    expires_in: ACCESS_TOKEN_LIFETIME_SECONDS,
    ...(secret === undefined ? {} : { id_token: idToken(addresses.auth, { secret, tokens, now: clock.now() }) }),
    scope: 'openid',
  });
}

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

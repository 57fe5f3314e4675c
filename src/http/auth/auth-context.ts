import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { ApplicationCredentials } from '../../identity/applications/application-credentials.ts';
import type { ClientCertificate } from '../../identity/applications/client-certificate.ts';
import type { Sessions } from '../../identity/tokens/sessions.ts';
import type { Pages } from './pages/pages.ts';

/** Returns the certificate of a request that came over mutual TLS. The trusted listener has validated it already. */
export type CertificateOf = (request: FastifyRequest) => ClientCertificate;

/** What the token operations need. */
export interface AuthContext {
  context: Context;
  sessions: Sessions;
  applications: ApplicationCredentials;
  /** Only on the trusted listener. Tokens issued there are bound to the certificate (RFC 8705, 3). */
  certificateOf: CertificateOf | undefined;
}

/** What operations need that also serve browsers. */
export interface PageContext extends AuthContext {
  pages: Pages;
}

/** A part of the authorization server: registers its routes. */
export type AuthRoutes = (app: FastifyInstance, auth: PageContext) => void;

export function createAuthContext(context: Context, sessions: Sessions, certificateOf?: CertificateOf): AuthContext {
  const { pool, vault, clock } = context;
  const applications = new ApplicationCredentials(pool, {
    vault,
    clock,
    identityVersion: sessions.identityVersion,
    apiUrl: () => context.addresses.api,
    environment: context.config.environment,
  });
  return { context, sessions, applications, certificateOf };
}

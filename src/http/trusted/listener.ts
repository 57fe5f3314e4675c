import type { RequestListener, Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { isSubjectRegistered } from '../../identity/applications/client-certificate.ts';
import type { Sessions } from '../../identity/tokens/sessions.ts';
import { Problem, StartupError } from '../../values/errors.ts';
import { messageOf } from '../../values/unknown.ts';
import { type ClientRoutes, createClientListener } from '../client/listener.ts';
import { peerOf } from '../server/peer.ts';
import { UnreadRequests } from '../server/unparsed.ts';
import type { TrustedFiles } from './files.ts';
import { trustedTokenRoutes } from './token.ts';

/** The trusted listener: token and API operations behind client certificates. */
export interface TrustedListener {
  /** It is not listening yet. */
  server: Server;
  scheme: 'https' | 'http';
  /** Reads certificate, key, CAs and CRLs again. Connections whose certificate is still accepted stay open. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates the trusted listener: behind a proxy if LOMBARD_TRUSTED_PROXIES is set, otherwise with the configured certificate, or in the
 * sandbox with a certificate of its test CA (docs/mutual-tls.md).
 * @returns undefined in production without any of them
 * @throws StartupError that names the file that cannot be used
 */
export async function createTrustedListener(
  context: Context,
  sessions: Sessions,
  routes: ClientRoutes[],
): Promise<TrustedListener | undefined> {
  const { config, clock, log, pool } = context;
  const files = await trustedFiles(context);
  if (!files) return undefined;
  if (files.crl.length === 0)
    log.warn('LOMBARD_TRUSTED_CRL is not set: revoked client certificates are not recognised');

  const app = await createClientListener(context, {
    sessions,
    routes: [...routes, ...trustedRoutes(sessions)],
    name: 'trusted',
  });
  await app.ready();
  const handler: RequestListener = (request, response) => app.routing(request, response);
  const isRegistered = (subject: string) => isSubjectRegistered(pool, subject);
  const { requestTimeout, keepAliveTimeout } = app.server;
  const http = { requestTimeout, keepAliveTimeout, requireHostHeader: false };
  const unread = new UnreadRequests('trusted', context);
  const options = { handler, unread, files, clock, log, isRegistered, http };
  try {
    if (config.trustedProxies.length > 0) {
      const { createProxiedListener } = await import('./proxy.ts');
      const { server, reload, close } = await createProxiedListener({ ...options, proxies: config.trustedProxies });
      return { server, scheme: 'http', reload, close: () => close().finally(() => app.close()) };
    }
    const { createTlsListener } = await import('./tls.ts');
    const listener = await createTlsListener(options);
    return {
      server: listener.server,
      scheme: 'https',
      reload: async () => log.info(await listener.reload(), 'certificates reloaded'),
      close: () => listener.close().finally(() => app.close()),
    };
  } catch (error) {
    await app.close();
    throw new StartupError(`the trusted listener cannot start: ${messageOf(error)}`, { cause: error });
  }
}

async function trustedFiles({ config, clock }: Context): Promise<TrustedFiles | undefined> {
  const { trustedCert: cert, trustedKey: key, trustedCa: ca, trustedCrl: crl } = config;
  if (cert && key) return { cert, key, ca, crl };
  if (config.trustedProxies.length > 0 && ca.length > 0) return { cert: '', key: '', ca, crl };
  if (config.environment !== 'sandbox') return undefined;
  const { testAuthority } = await import('../../embedded/test-authority.ts');
  const made = await testAuthority(config.dataDir, clock.now());
  return { cert: made.cert, key: made.key, ca: [made.ca], crl: [made.crl] };
}

/**
 * `GET /cert_check`: the subject DN of the caller's certificate as plain text (service interface, Mutual TLS). A listener without
 * certificates answers 404.
 */
export function certCheckRoute(app: FastifyInstance): void {
  app.get('/cert_check', { config: { open: true } }, (request, reply) => {
    const peer = peerOf(request.raw);
    if (!peer) throw new Problem('not_found', 'path: /cert_check is served at the trusted address only');
    return reply.type('text/plain; charset=utf-8').header('cache-control', 'no-store').send(peer.subject);
  });
}

/** The routes of the trusted listener, besides those of the client API. */
function trustedRoutes(sessions: Sessions): ClientRoutes[] {
  return [trustedTokenRoutes(sessions), certCheckRoute];
}

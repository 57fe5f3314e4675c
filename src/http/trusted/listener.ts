import type { RequestListener, Server } from 'node:http';
import type { Context } from '../../context.ts';
import { testAuthority } from '../../embedded/test-authority.ts';
import { StartupError } from '../../errors.ts';
import { isSubjectRegistered } from '../../identity/client-certificate.ts';
import type { Sessions } from '../../identity/sessions.ts';
import { type ClientRoutes, createClientListener } from '../client/listener.ts';
import { trustedRoutes } from './routes.ts';

/** The trusted listener as the service runs it: token and API operations behind certificates. */
export interface TrustedService {
  /** Not listening yet. */
  server: Server;
  scheme: 'https' | 'http';
  /** Reads certificate, key, CAs and CRLs anew; good connections stay. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Builds the trusted listener: behind a proxy where LOMBARD_TRUSTED_PROXIES names some, else with the configured certificate, else in
 * the sandbox with that of its test CA; undefined in production without any (docs/mutual-tls.md).
 * @throws StartupError naming the file that cannot be used
 */
export async function buildTrusted(
  context: Context,
  sessions: Sessions,
  routes: ClientRoutes[],
): Promise<TrustedService | undefined> {
  const { config, clock, log, pool } = context;
  const proxied = config.trustedProxies.length > 0;
  const files = await trustedFiles(context, proxied);
  if (!files) return undefined;
  if (files.ca.length === 0)
    throw new StartupError('LOMBARD_TRUSTED_CA: is needed, to check the certificates of clients');
  if (files.crl.length === 0) log.warn('LOMBARD_TRUSTED_CRL is not set: revoked client certificates are not noticed');

  const app = await createClientListener(context, sessions, [...routes, ...trustedRoutes(sessions)], 'trusted');
  await app.ready();
  const handler: RequestListener = (request, response) => app.routing(request, response);
  const isRegistered = (subject: string) => isSubjectRegistered(pool, subject);
  const http = { requestTimeout: app.server.requestTimeout, keepAliveTimeout: app.server.keepAliveTimeout };
  const common = { handler, files, clock, log, isRegistered, http };
  try {
    if (proxied) {
      const { createProxiedListener } = await import('./proxy.ts');
      const { server, reload, close } = await createProxiedListener({ ...common, proxies: config.trustedProxies });
      return { server, scheme: 'http', reload, close: () => close().finally(() => app.close()) };
    }
    const { createTrustedListener } = await import('./tls.ts');
    const listener = await createTrustedListener(common);
    return {
      server: listener.server,
      scheme: 'https',
      reload: async () => log.info(await listener.reload(), 'certificates read anew'),
      close: () => listener.close().finally(() => app.close()),
    };
  } catch (error) {
    throw new StartupError(`the trusted listener cannot start: ${(error as Error).message}`, { cause: error });
  }
}

interface Files {
  cert: string;
  key: string;
  ca: string[];
  crl: string[];
}

async function trustedFiles(context: Context, proxied: boolean): Promise<Files | undefined> {
  const { config, clock } = context;
  const { trustedCert: cert, trustedKey: key, trustedCa: ca, trustedCrl: crl } = config;
  if (cert && key) return { cert, key, ca, crl };
  if (proxied && ca.length > 0) return { cert: '', key: '', ca, crl };
  if (config.environment !== 'sandbox') return undefined;
  const made = await testAuthority(config.dataDir, clock.now());
  return { cert: made.cert, key: made.key, ca: [made.ca], crl: [made.crl] };
}

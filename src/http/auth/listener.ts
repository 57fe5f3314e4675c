import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { Problem } from '../../errors.ts';
import { deleteWhatIsOver } from '../../identity/housekeeping.ts';
import { warmUpPasswords } from '../../identity/password.ts';
import type { Sessions } from '../../identity/sessions.ts';
import type { JudgedCertificate } from '../../identity/tokens.ts';
import { Periodic } from '../../periodic.ts';
import { peerOf } from '../peer.ts';
import { RateLimit } from '../rate-limit.ts';
import { createServer } from '../server.ts';
import { authenticateRoutes } from './authenticate.ts';
import { discoveryRoutes } from './discovery.ts';
import { answerOAuthErrors } from './errors.ts';
import { Pages } from './pages/pages.ts';
import { createIdentity, readForms } from './requests.ts';
import { secondFactorRoutes } from './second-factor.ts';
import { signOutRoutes } from './sign-out.ts';
import { tokenRoutes } from './token.ts';

/** Milliseconds between two clearings of what is over. */
const HOUSEKEEPING_INTERVAL = 300_000;

/** The authorization listener ({auth_url}): the sign-in pages, the token operations, and what OpenID Connect clients look for. */
export async function buildAuthListener(context: Context, sessions: Sessions): Promise<FastifyInstance> {
  const app = createServer({ name: 'auth', log: context.log });
  const identity = createIdentity(context, sessions);
  const pages = new Pages(context.config);
  const rate = new RateLimit('auth', context.config.authRate, context.config.workers);
  await app.register(async (scope) => {
    answerOAuthErrors(scope, pages);
    readForms(scope);
    scope.addHook('onRequest', async (request, reply) => rate.use(addressKey(request.ip), reply));
    authenticateRoutes(scope, identity, pages);
    secondFactorRoutes(scope, identity, pages);
    signOutRoutes(scope, identity, pages);
    tokenRoutes(scope, identity);
    discoveryRoutes(scope, context);
  });
  const housekeeping = new Periodic({
    name: 'sign-in housekeeping',
    intervalMs: HOUSEKEEPING_INTERVAL,
    log: context.log,
    run: async () => {
      await deleteWhatIsOver(context.backgroundPool, context.clock.now());
    },
  });
  app.addHook('onReady', async () => {
    housekeeping.start();
    await warmUpPasswords();
  });
  app.addHook('onClose', () => housekeeping.stop());
  return app;
}

/**
 * The token operations of the trusted listener: the same code, with the certificate of the request (peer.ts).
 * Registers a scope of its own, since forms and OAuth errors are not for the API operations beside it.
 */
export function trustedTokenRoutes(context: Context, sessions: Sessions): (app: FastifyInstance) => Promise<void> {
  const identity = createIdentity(context, sessions);
  const rate = new RateLimit('auth', context.config.authRate, context.config.workers);
  return async (app) => {
    await app.register(async (scope) => {
      answerOAuthErrors(scope);
      readForms(scope);
      // The certificate and the application's credentials stand in the place of an access token.
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, open: true };
      });
      scope.addHook('onRequest', async (request, reply) => rate.use(addressKey(request.ip), reply));
      tokenRoutes(scope, identity, certificateOf);
    });
  };
}

function certificateOf(request: FastifyRequest): JudgedCertificate {
  const peer = peerOf(request.raw);
  if (!peer)
    throw new Problem(
      'certificate_missing',
      'connection: the token operations of this address need a client certificate',
    );
  return { subject: peer.canonicalSubject, thumbprint: peer.thumbprint };
}

/** One household has a whole /64 of IPv6: its addresses count as one. */
function addressKey(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const missing = 8 - groups.length - tail.split(':').filter(Boolean).length;
  const all = address.includes('::')
    ? [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...tail.split(':').filter(Boolean)]
    : groups;
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

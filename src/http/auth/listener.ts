import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { ApplicationOrigins } from '../../identity/applications/application-origins.ts';
import { warmUpPasswords } from '../../identity/sign-in/password.ts';
import { deleteExpired } from '../../identity/tokens/housekeeping.ts';
import type { Sessions } from '../../identity/tokens/sessions.ts';
import { Periodic } from '../../process/periodic.ts';
import { ownAddress } from '../page/own-page.ts';
import { answerOrigins } from '../server/cross-origin.ts';
import { createServer } from '../server/server.ts';
import { type AuthRoutes, createAuthContext } from './auth-context.ts';
import { authenticateRoutes } from './authenticate.ts';
import { describeAuthorizationServer } from './description.ts';
import { discoveryRoutes } from './discovery.ts';
import { answerOAuthErrors } from './errors.ts';
import { forgottenPasswordRoutes } from './forgotten-password.ts';
import { readForms } from './form.ts';
import { Pages } from './pages/pages.ts';
import { limitRequests } from './request-limits.ts';
import { secondFactorRoutes } from './second-factor.ts';
import { signOutRoutes } from './sign-out.ts';
import { tokenRoutes, userinfoRoutes } from './token.ts';

const HOUSEKEEPING_INTERVAL_MS = 300_000;

/** Makes the authorization listener ({auth_url}): the sign-in pages, the token operations, and OpenID Connect discovery. */
export async function createAuthListener(context: Context, sessions: Sessions): Promise<FastifyInstance> {
  const app = createServer({ name: 'auth', context });
  answerOrigins(app, context, new ApplicationOrigins(context.pool));
  const auth = { ...createAuthContext(context, sessions), pages: new Pages(context.config) };
  await app.register(async (scope) => {
    answerOAuthErrors(scope, auth.pages);
    readForms(scope);
    limitRequests(scope, auth);
    scope.addHook('onRequest', (request, reply) => useOwnAddress(context, request, reply));
    for (const register of authRoutes) register(scope, auth);
  });
  describeAuthorizationServer(app, context);
  const housekeeping = new Periodic({
    name: 'sign-in housekeeping',
    intervalMs: HOUSEKEEPING_INTERVAL_MS,
    log: context.log,
    run: async () => void (await deleteExpired(context.backgroundPool, context.clock.now())),
  });
  app.addHook('onReady', async () => {
    housekeeping.start();
    await warmUpPasswords();
  });
  app.addHook('onClose', () => housekeeping.stop());
  return app;
}

/** Redirects a browser that opened a page under another name of this machine to the page's own address. */
async function useOwnAddress(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.method !== 'GET' || !request.routeOptions.config.page) return;
  const own = ownAddress(context.addresses.auth, request);
  if (own !== undefined) await reply.redirect(own, 307);
}

/** Everything that the authorization listener serves. */
const authRoutes: AuthRoutes[] = [
  authenticateRoutes,
  secondFactorRoutes,
  forgottenPasswordRoutes,
  signOutRoutes,
  tokenRoutes,
  userinfoRoutes,
  discoveryRoutes,
];

import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { Problem } from '../../errors.ts';
import type { ConfiguredToken } from '../../operator/configured-token.ts';
import { findOperatorToken, type OperatorRole, type OperatorToken } from '../../operator/token.ts';
import { openApi } from '../openapi.ts';
import { createServer } from '../server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    operator: OperatorToken;
  }
  interface FastifyContextConfig {
    /** Operator roles that may use the route besides admin; undefined: admin only. */
    roles?: OperatorRole[];
  }
}

/** Routes that feed data: the core's token may use them. */
export const FEED: { roles: OperatorRole[] } = { roles: ['core'] };
/** Routes that read: every role may use them. */
export const READ: { roles: OperatorRole[] } = { roles: ['core', 'support'] };
/** Routes that redeliver and replay: support staff may use them. */
export const SUPPORT: { roles: OperatorRole[] } = { roles: ['support'] };

export type OperatorRoutes = (app: FastifyInstance, context: Context) => void | Promise<void>;

/** The operator listener: operator tokens with roles, errors as ErrorMessage, idempotent POSTs (docs/operator-interface.md). */
export async function createOperatorListener(
  context: Context,
  routes: OperatorRoutes[],
  configured?: ConfiguredToken,
): Promise<FastifyInstance> {
  const app = createServer({ name: 'operator', log: context.log, requestTimeoutMs: 0 });
  app.decorateRequest('operator', null as unknown as OperatorToken);
  if (!app.hasRequestDecorator('now')) app.decorateRequest('now', null as unknown as Date);
  app.addHook('onRequest', async (request) => {
    request.now = context.clock.now();
    const { open, roles = [] } = request.routeOptions.config;
    if (request.is404 || open) return;
    const header = request.headers.authorization ?? '';
    if (!/^bearer +\S+$/i.test(header)) {
      throw new Problem(
        'authentication_failed',
        'header.Authorization: must be `Bearer <operator token>` (the sandbox writes one to operator-token in its data directory)',
      );
    }
    request.operator = await findOperatorToken(context.pool, header.slice(7).trim(), request.now, configured);
    if (request.operator.role !== 'admin' && !roles.includes(request.operator.role)) {
      throw new Problem('permission_denied', `header.Authorization: the role ${request.operator.role} may not do this`);
    }
  });
  await openApi(app, context, {
    title: 'Lombard operator interface',
    path: '/openapi.json',
    url: () => '/',
    description: 'For the institution: feed clients, payments and transactions, and operate the service.',
  });
  for (const register of routes) await app.register(async (scope) => register(scope, context));
  return app;
}

import type { FastifyInstance } from 'fastify';
import type { Context } from '../../../context.ts';
import { accountsData } from './accounts.ts';
import { approvalsData } from './approvals.ts';
import { paymentsData } from './payments.ts';
import { sandboxData } from './sandbox.ts';
import { tradesData } from './trades.ts';
import { webhooksData } from './webhooks.ts';

/** Data that only the clients' pages need, under {base_url}/app/data: with the cookie, for the client of the address (docs/pages.md). */
export function pageDataRoutes(app: FastifyInstance, context: Context): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, page: true };
    route.schema = { ...route.schema, hide: true };
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  accountsData(app, context);
  approvalsData(app, context);
  paymentsData(app, context);
  sandboxData(app, context);
  tradesData(app, context);
  webhooksData(app, context);
}

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../../context.ts';
import { PAGES_APPLICATION } from '../../../identity/applications/own-applications.ts';
import { DESTINATIONS } from '../../../sandbox/course.ts';
import { listRequests } from '../../../sandbox/requests/request-log.ts';
import { EVENTS } from '../../../sandbox/trigger.ts';
import { ClientId, PATTERNS, UuidOfRecord } from '../../../values/schemas.ts';
import { receiverHealth } from '../../../webhooks/receiver-health.ts';
import { sendList, sendValue } from '../../schemas/reply.ts';
import { ClientQuery, type Page, Paging } from '../../schemas/schemas.ts';
import { accountsData } from './accounts.ts';
import { approvalsData } from './approvals.ts';
import { filesData } from './files.ts';
import { orderingData } from './ordering.ts';
import { paymentsData } from './payments.ts';
import { tradesData } from './trades.ts';

/** Data that only the clients' pages need, under {base_url}/app/data. It needs the cookie, and is for the client in the address (docs/pages.md). */
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
  filesData(app, context);
  orderingData(app, context);
  paymentsData(app, context);
  sandboxData(app, context);
  tradesData(app, context);
  webhooksData(app, context);
}

const Requests = Type.Object({
  client_id: ClientId,
  ...Paging,
  status: Type.Optional(Type.String({ pattern: PATTERNS.status })),
  pages: Type.Optional(Type.Boolean()),
});

/** What the page of the sandbox needs: the requests of programs, events to trigger, and the states to which a payment can be advanced. */
function sandboxData(app: FastifyInstance, { config, pool }: Context): void {
  if (config.environment !== 'sandbox') return;
  app.get<{ Querystring: Static<typeof Requests> & Page }>(
    '/app/data/requests',
    { schema: { querystring: Requests } },
    async (request, reply) => {
      const { page, page_size: pageSize, status, pages } = request.query;
      await app.requestLog?.write();
      const wanted = { page, pageSize, status, ...(pages ? {} : { without: PAGES_APPLICATION }) };
      return sendList(reply, await listRequests(pool, request.caller.clientId, wanted));
    },
  );
  app.get('/app/data/sandbox', { schema: { querystring: ClientQuery } }, async (_request, reply) =>
    sendValue(reply, { events: EVENTS, destinations: DESTINATIONS }),
  );
}

const Wanted = Type.Object({ client_id: ClientId, subscription_id: UuidOfRecord('Subscription') });

/** What the page of webhooks needs besides GraphQL: how a receiver has answered recently. */
function webhooksData(app: FastifyInstance, { pool }: Context): void {
  app.get<{ Querystring: Static<typeof Wanted> }>(
    '/app/data/receiver-health',
    { schema: { querystring: Wanted } },
    async (request, reply) => {
      const { subscription_id: subscriptionId } = request.query;
      const { clientId } = request.caller;
      return sendValue(reply, await receiverHealth(pool, { clientId, subscriptionId }, request.now));
    },
  );
}

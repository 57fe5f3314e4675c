import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { homeOfClient } from '../../database/cells/client-moves.ts';
import { cellForNewClient, homeOfRecord } from '../../database/cells/directory.ts';
import type { ConfiguredToken } from '../../operator/configured-token.ts';
import { GivenTokens } from '../../operator/given-tokens.ts';
import { type Operator, operatorOfToken } from '../../operator/operator.ts';
import { requireScopes, type Scope } from '../../operator/scope.ts';
import { Problem } from '../../values/errors.ts';
import { consoleRoutes } from '../console/routes.ts';
import { CONSOLE_CALLS, operatorOfCall } from '../console/session.ts';
import { openApi } from '../description/openapi.ts';
import type { JsonAnswer } from '../schemas/schemas.ts';
import { enterCell, refuseMoving } from '../server/cells.ts';
import { createServer } from '../server/server.ts';
import { operatorDescription } from './description.ts';
import { requireReason } from './reason.ts';

declare module 'fastify' {
  interface FastifyRequest {
    operator: Operator;
  }
  interface FastifyContextConfig {
    /** The scope that the operator token needs. Every route that is not open has it, or `scopesOf`. */
    scope?: Scope;
    /** The scopes that it needs, if they depend on the path or the body, which is not checked yet. */
    scopesOf?: (request: FastifyRequest) => Scope[];
  }
}

export const READ = { scope: 'read' } as const;
export const FEED = { scope: 'feed' } as const;
export const IDENTITY = { scope: 'identity' } as const;
export const REDELIVER = { scope: 'redeliver' } as const;
export const UNLOCK = { scope: 'unlock' } as const;
export const CHANGES = { scope: 'changes' } as const;
export const AUDIT = { scope: 'audit' } as const;
export const SYSTEM = { scope: 'system' } as const;

/** The most characters of a caller's text that a refusal quotes. */
const MAX_QUOTED_LENGTH = 100;
const MAX_ID_LENGTH = 64;

export type OperatorRoutes = (app: FastifyInstance, context: Context) => void | Promise<void>;

/** Makes the operator listener: operator tokens with scopes, errors as ErrorMessage, idempotent POSTs (docs/operator-interface.md). */
export async function createOperatorListener(
  context: Context,
  routes: OperatorRoutes[],
  configured?: ConfiguredToken,
): Promise<FastifyInstance> {
  const app = createServer({
    name: 'operator',
    context,
    requestTimeoutMs: 0,
    rewriteUrl: (request) => CONSOLE_CALLS.rewriteUrl(request),
  });
  // Answers are described but not filtered. Their decimals keep their digits, and their fields the order of the domains.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  app.decorateRequest('operator');
  if (!app.hasRequestDecorator('now')) app.decorateRequest('now');
  const tokens = new GivenTokens(context.pool, configured);
  app.addHook('onRequest', async (request) => {
    request.now = context.clock.now();
    if (request.is404 || request.routeOptions.config.open) return;
    request.operator = CONSOLE_CALLS.has(request)
      ? await operatorOfCall(context, request)
      : await operatorOfHeader(request, tokens);
    request.party = { application: request.operator.name, clientId: clientOf(request) };
    const { scope } = request.routeOptions.config;
    if (scope) requireScopes(request.operator, [scope]);
    if (CONSOLE_CALLS.has(request)) requireReason(request);
  });
  app.addHook('preValidation', async (request) => {
    if (['GET', 'HEAD'].includes(request.method) && !request.is404) refuseUnknownFilters(request);
    request.party = { ...request.party, clientId: clientOf(request) };
    const { scopesOf, open } = request.routeOptions.config;
    // Open routes read no client's records; signing in writes what exists once.
    if (request.cellScope && !open) await enterCellOf(context, request);
    if (scopesOf && !request.is404) requireScopes(request.operator, scopesOf(request));
  });
  await openApi(app, context, operatorDescription);
  await app.register(async (scope) => consoleRoutes(scope, context, tokens));
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.open && !config?.scope && !config?.scopesOf) throw new TypeError(`${method} ${url} names no scope`);
  });
  for (const register of routes) await app.register(async (scope) => register(scope, context));
  return app;
}

async function operatorOfHeader(request: FastifyRequest, tokens: GivenTokens): Promise<Operator> {
  const header = request.headers.authorization ?? '';
  if (!/^bearer +\S+$/i.test(header)) {
    throw new Problem(
      'authentication_failed',
      'header.Authorization: must be `Bearer <operator token>` (the sandbox writes one to operator-token in its data directory)',
    );
  }
  return operatorOfToken(await tokens.find(header.slice(7).trim(), request.now));
}

/** Data that is in all cells, even for one client: the changes of its contacts, and what it has left in its former cells. */
const HISTORY = /^\/(audit|changes|reconciliation)\b/;

/**
 * Determines where the statements of a request run: in the cell of the client or the record that it names. A read over all clients covers
 * all cells. A change that concerns no client names no cell.
 * @throws ClientMoves
 */
async function enterCellOf({ pool }: Context, request: FastifyRequest): Promise<void> {
  const { method, routeOptions, params } = request;
  const { url = '' } = routeOptions;
  if (method === 'POST' && url === '/clients') return enterCell(request, await cellForNewClient(pool));
  // They exist once, and later changes name no client. In the feed all changes of a record have to be in one cell.
  if (method === 'POST' && url === '/account-details') return enterCell(request, 'none');
  if (HISTORY.test(url)) return enterCell(request, 'all');
  // A record in the address determines the cell, even if a filter names a client.
  const clientId = !url.includes(':') || url.includes(':client_id') ? givenClient(request) : undefined;
  const reads = method === 'GET' || method === 'HEAD';
  const named = { url, parameters: params as Record<string, string> };
  const home =
    (clientId === undefined ? undefined : await homeOfClient(pool, clientId)) ?? (await homeOfRecord(pool, named));
  if (home?.moving) await refuseMoving(pool, home.clientId);
  if (home) return enterCell(request, home.cell, home.clientId);
  // A client or a record that is in no cell is not in the first one either. There the request finds that it does not exist.
  if (home === null || clientId !== undefined) return enterCell(request, 0);
  enterCell(request, reads ? 'all' : 'none');
}

/** The client of a request for the log, if the request names one. */
function clientOf(request: FastifyRequest): string | undefined {
  const clientId = givenClient(request);
  return clientId !== undefined && clientId.length <= MAX_ID_LENGTH ? clientId : undefined;
}

/** The client that a request names. An application's client_id is not a client. */
function givenClient({ routeOptions: { url = '' }, params, query, body }: FastifyRequest): string | undefined {
  if (url.startsWith('/applications')) return undefined;
  const { client_id: clientId } = Object.assign({}, query, body, params) as { client_id?: unknown };
  return typeof clientId === 'string' ? clientId : undefined;
}

/**
 * Refuses unknown filters, of lists below a record too. A support tool must not show everybody because its filter does not exist
 * (docs/operator-interface.md, Lists).
 * @throws Problem invalid_parameter
 */
function refuseUnknownFilters({ query, routeOptions: { url = '', schema, config } }: FastifyRequest): void {
  if (config.open || (url.includes(':') && !answersList(schema?.response))) return;
  const known = Object.keys((schema?.querystring as { properties?: object } | undefined)?.properties ?? {});
  const unknown = Object.keys(query as object).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const message = `is not a filter of this list: ${known.join(', ') || 'it has none'}`;
  throw new Problem('invalid_parameter', `query.${unknown.slice(0, MAX_QUOTED_LENGTH)}: ${message}`);
}

/** Whether an operation answers with a list. @param response its schemas of answers, by status */
function answersList(response: unknown): boolean {
  const { 200: answer } = (response ?? {}) as { 200?: JsonAnswer<{ type?: string }> };
  return answer?.content?.['application/json']?.schema.type === 'array';
}

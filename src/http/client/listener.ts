import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { ApplicationOrigins } from '../../identity/applications/application-origins.ts';
import { PERMISSIONS, type Permissions } from '../../identity/people/permission.ts';
import type { Session, Sessions } from '../../identity/tokens/sessions.ts';
import { Problem } from '../../values/errors.ts';
import { codeOf, fieldsOf, tableOf } from '../../values/unknown.ts';
import { appRoutes } from '../app/routes.ts';
import { APP_CALLS, sessionOfCall } from '../app/session.ts';
import { openApi } from '../description/openapi.ts';
import { addressKey } from '../server/caller-address.ts';
import { enterCell, refuseMoving } from '../server/cells.ts';
import { answerOrigins } from '../server/cross-origin.ts';
import { answerKeyed, readKey } from '../server/keyed.ts';
import { peerOf } from '../server/peer.ts';
import { RateLimit } from '../server/rate-limit.ts';
import { createServer } from '../server/server.ts';
import type { Advice } from '../server/unknown-address.ts';
import { checkClient, checkEnabled, checkPermission, checkSecondFactor, type Needed, neededBy } from './caller.ts';
import { clientDescription } from './description.ts';
import { pageDataRoutes } from './pages/routes.ts';
import { recordRequests } from './sandbox-recording.ts';

/** The contact and the client of a request, once the token and the client have been checked. */
export interface Caller {
  contactId: string;
  clientId: string;
  session: Session;
  permissions: Permissions;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    /** Whether the change is only tried, and nothing of it is kept. */
    validateOnly: boolean;
  }
  interface FastifyContextConfig {
    /** The permissions that the contact needs for the client. */
    permission?: Needed | ((request: FastifyRequest) => Needed);
    /** Whether it concerns no client, and names none. */
    clientless?: boolean;
    /** Whether the contact needs a second factor, if the client requires one. */
    secondFactor?: boolean;
    /** Whether the header X-Client-ID may also name the client (webhook endpoints). */
    clientHeader?: boolean;
    /** Whether the session of a page is needed, and a token is not enough. */
    page?: boolean;
    /** Whether it counts for no rate limit. */
    unlimited?: boolean;
    /** Whether a POST takes no Idempotency-Key: always, or depending on the request. */
    unkeyed?: boolean | ((request: FastifyRequest) => boolean);
  }
}

/** Registers the routes of one part of the client API. */
export type ClientRoutes = (app: FastifyInstance, context: Context) => void | Promise<void>;

/**
 * Makes the client listener. It checks in the order of docs/decisions.md, 1: token, client, contact, permission, then parameters and body.
 * @param options `name`: `trusted` for the same operations behind certificates at the trusted address
 */
export async function createClientListener(
  context: Context,
  options: { sessions: Sessions; routes: ClientRoutes[]; name?: 'api' | 'trusted' },
): Promise<FastifyInstance> {
  const { sessions, routes, name = 'api' } = options;
  const pages = name === 'api' ? { rewriteUrl: (request: IncomingMessage) => APP_CALLS.rewriteUrl(request) } : {};
  const app = createServer({ name, context, advice, ...pages });
  answerOrigins(app, context, new ApplicationOrigins(context.pool));
  const rate = new RateLimit('api', context.config.apiRate, { exchange: context.rateCounts });
  const refused = new RateLimit('api', context.config.apiRate, { exchange: context.rateCounts, kind: 'refused' });
  app.decorateRequest('caller');
  app.decorateRequest('validateOnly', false);
  app.decorateRequest('now');

  app.addHook('onRequest', async (request, reply) => {
    request.now = context.clock.now();
    if (request.is404 || request.routeOptions.config.open) return;
    let session: Session | undefined;
    try {
      const ofPage = request.routeOptions.config.page || APP_CALLS.has(request);
      const found = ofPage ? sessionOfCall(context, request, sessions) : sessions.find(bearer(request));
      session = found instanceof Promise ? await found : found;
      request.party = { contactId: session.contactId, application: session.applicationId };
      requireCertificate(request, session);
      identify(request, session);
    } catch (refusal) {
      // Guessing has limits too: for tokens by address, for clients by application.
      if (UNKNOWN_TOKEN.has(codeOf(refusal)))
        await refused.use(`address ${addressKey(context.addressOf(request.raw))}`, reply);
      else if (session) await refused.use(session.applicationId, reply);
      throw refusal;
    }
    const { clientId } = request.caller;
    if (request.cellScope && session.clients.get(clientId)?.moving) await refuseMoving(context.pool, clientId);
    const { page, unlimited } = request.routeOptions.config;
    // Data of the pages counts for its person, so that open pages that follow a busy client do not use up each other's limit.
    const caller = page ? `pages ${session.contactId}` : session.applicationId;
    if (!unlimited) await rate.use(`${caller} ${request.caller.clientId}`, reply);
    checkPermission(request.caller.permissions, neededBy(request));
    if (request.routeOptions.config.secondFactor)
      checkSecondFactor(checkClient(session.clients.get(clientId), 'client_id'), session.secondFactor);
    request.validateOnly = !page && readValidateOnly(request);
    const { unkeyed } = request.routeOptions.config;
    const keyless = typeof unkeyed === 'function' ? unkeyed(request) : unkeyed;
    if (page || keyless) return;
    readKey(request, { whose: [clientId, session.contactId], taken: !request.validateOnly });
  });
  answerKeyed(app, context);

  if (context.config.environment === 'sandbox') recordRequests(app, context, sessions);

  await openApi(app, context, clientDescription(context, name));
  for (const register of routes) await app.register(async (scope) => register(scope, context));
  if (name === 'api') {
    await app.register(async (scope) => appRoutes(scope, context));
    await app.register(async (scope) => pageDataRoutes(scope, context));
  }
  return app;
}

/**
 * Whether a change is only to be tried.
 * @throws Problem invalid_parameter for any other value, and for a change that cannot be tried
 */
function readValidateOnly({ method, query, routeOptions }: FastifyRequest): boolean {
  const { validate_only: value } = fieldsOf(query);
  if (value === undefined || value === 'false' || method === 'GET' || method === 'HEAD') return false;
  const { properties } = fieldsOf(routeOptions.schema?.querystring);
  if (value === 'true' && 'validate_only' in fieldsOf(properties)) return true;
  const message = value === 'true' ? 'this change cannot be tried' : 'must be true or false';
  throw new Problem('invalid_parameter', `query.validate_only: ${message}`);
}

/** The codes for a refused token. */
const UNKNOWN_TOKEN = new Set<string | undefined>(['authentication_failed', 'token_expired']);

function requireCertificate(request: FastifyRequest, session: Session): void {
  if (session.thumbprint === null || session.thumbprint === peerOf(request.raw)?.thumbprint) return;
  throw new Problem('authentication_failed', {
    field: 'Authorization',
    message: 'the token is bound to a client certificate (RFC 8705)',
  });
}

/** The most characters of the header Authorization. */
const MAX_HEADER_LENGTH = 4_096;

function bearer(request: FastifyRequest): string {
  const header = request.headers.authorization;
  if (!header)
    throw new Problem('authentication_failed', {
      field: 'Authorization',
      message: 'is required; send `Authorization: Bearer <access token>`',
    });
  if (header.length > MAX_HEADER_LENGTH || !/^bearer +[A-Za-z0-9._~+/-]+=*$/i.test(header)) {
    throw new Problem('authentication_failed', { field: 'Authorization', message: 'must be `Bearer <access token>`' });
  }
  // Opaque tokens have no dots. An id_token is a JWT: three parts, separated by dots.
  if (/^bearer +[^.]+\.[^.]+\.[^.]+$/i.test(header))
    throw new Problem('authentication_failed', {
      field: 'Authorization',
      message: 'this looks like an id_token: send the access_token',
    });
  return header.slice(7).trim();
}

/** Determines the client and the contact of a request. */
function identify(request: FastifyRequest, session: Session): void {
  if (!request.routeOptions.config.clientless) {
    identifyClient(request, session);
    return;
  }
  const nothing = tableOf(PERMISSIONS, () => false);
  request.caller = { contactId: session.contactId, clientId: '', session, permissions: nothing };
  checkContact(request, session);
}

/** @throws Problem contact_mismatch */
function checkContact({ headers }: FastifyRequest, { contactId }: Session): void {
  const contact = headers['x-contact-id'];
  if (contact === undefined || contact === contactId) return;
  throw new Problem(
    'contact_mismatch',
    'header.X-Contact-Id: must be the contact of the access token; you can omit it',
  );
}

function identifyClient(request: FastifyRequest, session: Session): void {
  let clientId = fieldsOf(request.query).client_id;
  let field = 'query.client_id';
  const header = request.routeOptions.config.clientHeader ? request.headers['x-client-id'] : undefined;
  if (header) {
    if (!clientId) [clientId, field] = [header, 'header.X-Client-ID'];
    else if (typeof clientId === 'string' && clientId !== header)
      throw new Problem('invalid_parameter', 'header.X-Client-ID: differs from query.client_id; you can omit it');
  }
  if (Array.isArray(clientId)) throw new Problem('invalid_parameter', 'query.client_id: must be sent once');
  if (typeof clientId !== 'string' || clientId === '') {
    throw new Problem(
      'missing_parameter',
      'query.client_id: is required; the id_token lists the clients of the contact in `clients`',
    );
  }
  const client = checkClient(session.clients.get(clientId), field);
  // From here on the request belongs to the client, even if it is refused.
  request.party = { ...request.party, clientId };
  enterCell(request, client.cell, clientId);
  request.caller = { contactId: session.contactId, clientId, session, permissions: client.permissions };
  checkContact(request, session);
  checkEnabled(client, field);
}

/** Records that the institution creates, and clients only read. */
const FED = ['accounts', 'currency-accounts', 'transactions', 'clients', 'contacts'];

/** Tells a program that tries to create what only the institution creates, so that it need not search the client API further. */
const advice: Advice = (method, path) => {
  const [, noun = '', ...rest] = path.split('/');
  if (method !== 'POST' || rest.length > 0 || !FED.includes(noun)) return undefined;
  return `the institution creates ${noun.replaceAll('-', ' ')}, through its operator interface (POST /${noun} there)`;
};

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OAuthError } from '../../identity/oauth-error.ts';
import { addressKey } from '../server/caller-address.ts';
import { RateLimit } from '../server/rate-limit.ts';
import { authenticateApplication } from './application-authentication.ts';
import type { AuthContext } from './auth-context.ts';
import { form } from './form.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit of an address under which the route counts. By default it is the one for everything else: discovery, keys, userinfo, pages. */
    limit?: 'sign-in' | 'token';
  }
  interface FastifyRequest {
    /** Why the request's address may make no more requests of this kind. It does not apply to a known application. */
    addressRefusal: Error | undefined;
  }
}

/**
 * The request limits of the authorization server. An address has three: for sign-ins, for token operations, and for everything else, so
 * that requests of one kind do not block the others. A request with valid application credentials counts for the application instead.
 */
export function limitRequests(scope: FastifyInstance, auth: AuthContext): void {
  const { config, rateCounts: exchange, addressOf } = auth.context;
  const limit = (kind: string) => new RateLimit('auth', config.authRate, { exchange, kind });
  const limits = { 'sign-in': limit('sign-in'), token: limit('token'), rest: limit('rest') };
  const applications = new RateLimit('api', config.apiRate, { exchange, kind: 'application' });
  scope.decorateRequest('addressRefusal', undefined);

  scope.addHook('onRequest', async (request, reply) => {
    const kind = request.routeOptions.config.limit ?? 'rest';
    const refusal = await limits[kind].count(addressKey(addressOf(request.raw)), reply);
    // The credentials of a token operation may be in its body, which has not been read yet.
    if (mayHaveCredentials(request)) request.addressRefusal = refusal;
    else if (refusal) throw refusal;
  });
  scope.addHook('preValidation', async (request, reply) => {
    if (!mayHaveCredentials(request)) return;
    const kind = request.routeOptions.config.limit ?? 'rest';
    const application = await knownApplication(auth, request);
    if (application === undefined) {
      if (request.addressRefusal) throw request.addressRefusal;
      return;
    }
    request.party = { application };
    limits[kind].takeBack(addressKey(addressOf(request.raw)));
    reply.removeHeader('retry-after');
    await applications.use(application, reply);
  });
}

function mayHaveCredentials(request: FastifyRequest): boolean {
  return request.routeOptions.config.limit === 'token' || /^basic /i.test(request.headers.authorization ?? '');
}

/** The application whose credentials a request contains, if they are valid. */
async function knownApplication(auth: AuthContext, request: FastifyRequest): Promise<string | undefined> {
  const known = { authenticate: (id: string, secret: string) => auth.applications.recognise(id, secret) };
  try {
    return (await authenticateApplication(known, request, form(request))).application.id;
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

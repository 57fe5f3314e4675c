import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { namesOfMachine } from '../../values/loopback.ts';

/** Seconds for which a browser keeps the answer to a preflight: the most that Chromium allows. */
const PREFLIGHT_SECONDS = 7_200;
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, No-Redirect, X-Client-ID, X-Contact-Id, X-Request-Id, X-Requested-With';
const EXPOSED_HEADERS = [
  ...['Idempotency-Replayed', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate'],
  ...['X-Configuration-Version', 'X-Ignored-Parameters', 'X-Request-Id', 'X-Total-Count'],
].join(', ');

/**
 * Lets the service's own pages, and those at the applications' redirect addresses, call a listener (Fetch, 3.3, CORS). Browsers send no
 * cookies with such calls, because no answer allows credentials. Register it before the hooks that check tokens, so that the page can read
 * refusals too.
 * @param applications the origins of those addresses
 */
export function answerOrigins(
  app: FastifyInstance,
  { addresses }: Context,
  applications: { has(origin: string): Promise<boolean> },
): void {
  const own = () => [addresses.api, addresses.auth].flatMap((address) => namesOfMachine(new URL(address).origin));
  const allowed = (origin: string) => own().includes(origin) || applications.has(origin);
  app.addHook('onRequest', async (request, reply): Promise<FastifyReply | undefined> => {
    const { origin } = request.headers;
    reply.header('vary', 'Origin');
    if (origin === undefined || origin === 'null' || !(await allowed(origin))) return undefined;
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', EXPOSED_HEADERS);
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return undefined;
    reply.header('access-control-allow-methods', METHODS);
    reply.header('access-control-allow-headers', REQUEST_HEADERS);
    reply.header('access-control-max-age', String(PREFLIGHT_SECONDS));
    return reply.code(204).send();
  });
}

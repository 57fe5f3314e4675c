import type { FastifyInstance } from 'fastify';
import { Problem } from '../errors.ts';

/** Characters of a path that the refusal quotes. */
const MAX_QUOTED_LENGTH = 200;

/** Says who does what a caller tried in vain; undefined where nobody does. */
export type Advice = (method: string, path: string) => string | undefined;

/** Answers an address that no route has with 404, and a method that the routes of an address do not have with 405 and `Allow`. */
export function answerUnknownAddresses(app: FastifyInstance, advice: Advice): void {
  const routes: { methods: string[]; path: RegExp }[] = [];
  app.addHook('onRoute', (route) => {
    const methods = Array.isArray(route.method) ? route.method : [route.method];
    routes.push({ methods, path: pathPattern(route.url) });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods);
    const advised = advice(request.method, path);
    const hint = advised === undefined ? '' : `; ${advised}`;
    // A route of files has the address, but not this file.
    const shown = path.slice(0, MAX_QUOTED_LENGTH);
    if (methods.length === 0 || methods.includes(request.method))
      throw new Problem('not_found', `path: nothing is served at ${shown}${hint}`);
    const allowed = [...new Set(methods)].sort().join(', ');
    reply.header('allow', allowed);
    throw new Problem('method_not_allowed', `${request.method}: the methods of ${shown} are ${allowed}${hint}`);
  });
}

/** A route's address as a pattern. */
function pathPattern(url: string): RegExp {
  const segments = url
    .split('/')
    .map((segment) =>
      segment.startsWith(':') ? '[^/]+' : segment === '*' ? '.*' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    );
  return new RegExp(`^${segments.join('/')}$`);
}

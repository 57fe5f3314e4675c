import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../values/errors.ts';

/** Characters of a path that the refusal quotes. */
const MAX_QUOTED_LENGTH = 200;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route only says what is wrong: `Allow` does not name its method. */
    refuses?: boolean;
  }
}

/** Says who does what a caller tried in vain; undefined where nobody does. */
export type Advice = (method: string, path: string) => string | undefined;

/**
 * Answers an address that no route has with 404, and a method that the routes of an address do not have with 405 and `Allow`. It does not
 * look at the body: whatever is wrong with it is not what the caller has to know.
 */
export function answerUnknownAddresses(app: FastifyInstance, advice: Advice): void {
  const routes: { url: string; methods: string[]; path: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.refuses) routes.push({ url, methods: [method].flat(), path: pathPattern(url) });
  });

  function refusal(request: FastifyRequest, reply: FastifyReply): Problem {
    const path = request.url.split('?', 1)[0] ?? '';
    const matching = routes.filter((route) => route.path.test(path));
    // An address of its own, as /imports/clients, is not a record of the same form, as /imports/{import_id}.
    const own = matching.filter(({ url }) => url === path);
    const methods = (own.length > 0 ? own : matching).flatMap((route) => route.methods);
    const advised = advice(request.method, path);
    const hint = advised === undefined ? '' : `; ${advised}`;
    // A route of files has the address, but not this file.
    const shown = path.slice(0, MAX_QUOTED_LENGTH).split('/').map(withoutAccount).join('/');
    if (methods.length === 0 || methods.includes(request.method))
      return new Problem('not_found', `path: nothing is served at ${shown}${hint}`);
    const allowed = [...new Set(methods)].sort().join(', ');
    reply.header('allow', allowed);
    return new Problem('method_not_allowed', `${request.method}: the methods of ${shown} are ${allowed}${hint}`);
  }

  // After the hooks of each request, which let pages of other origins read the answer, and before its body.
  app.addHook('preParsing', (request, reply, _payload, done) => done(request.is404 ? refusal(request, reply) : null));
  app.setNotFoundHandler((request, reply) => {
    throw refusal(request, reply);
  });
}

/** Digits from which on a part of a path can be the number of an account, which no log line has. */
const MIN_ACCOUNT_DIGITS = 6;

function withoutAccount(part: string): string {
  return (part.match(/\d/g)?.length ?? 0) < MIN_ACCOUNT_DIGITS ? part : '...';
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

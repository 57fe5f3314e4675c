import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../values/errors.ts';

/** The most characters of a path that the refusal quotes. */
const MAX_QUOTED_LENGTH = 200;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route exists only to explain what is wrong. `Allow` does not list its method. */
    refuses?: boolean;
  }
}

/** Says where a caller finds what it tried to do; undefined if nowhere. */
export type Advice = (method: string, path: string) => string | undefined;

/**
 * Answers an unknown address with 404, and an unknown method of a known address with 405 and `Allow`. It does not read the body, because
 * its faults are not what the caller needs to know.
 */
export function answerUnknownAddresses(app: FastifyInstance, advice: Advice): void {
  const routes: { url: string; methods: string[]; path: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.refuses) routes.push({ url, methods: [method].flat(), path: pathPattern(url) });
  });

  function refusal(request: FastifyRequest, reply: FastifyReply): Problem {
    const path = request.url.split('?', 1)[0] ?? '';
    const matching = routes.filter((route) => route.path.test(path));
    // An exact address such as /imports/clients takes precedence over a pattern such as /imports/{import_id}.
    const own = matching.filter(({ url }) => url === path);
    const methods = (own.length > 0 ? own : matching).flatMap((route) => route.methods);
    const advised = advice(request.method, path);
    const hint = advised === undefined ? '' : `; ${advised}`;
    // A route for files has this address, but not this file.
    const shown = path.slice(0, MAX_QUOTED_LENGTH).split('/').map(withoutAccount).join('/');
    if (methods.length === 0 || methods.includes(request.method))
      return new Problem('not_found', `path: nothing is served at ${shown}${hint}`);
    const allowed = [...new Set(methods)].sort().join(', ');
    reply.header('allow', allowed);
    return new Problem('method_not_allowed', `${request.method}: the methods of ${shown} are ${allowed}${hint}`);
  }

  // After the hooks that let pages of other origins read the answer, and before the body is read.
  app.addHook('preParsing', (request, reply, _payload, done) => done(request.is404 ? refusal(request, reply) : null));
  app.setNotFoundHandler((request, reply) => {
    throw refusal(request, reply);
  });
}

/** A part of a path with this many digits may be an account number, which must not be in the log. */
const MIN_ACCOUNT_DIGITS = 6;

function withoutAccount(part: string): string {
  return (part.match(/\d/g)?.length ?? 0) < MIN_ACCOUNT_DIGITS ? part : '...';
}

/** A regular expression for a route's address. */
function pathPattern(url: string): RegExp {
  const segments = url
    .split('/')
    .map((segment) =>
      segment.startsWith(':') ? '[^/]+' : segment === '*' ? '.*' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    );
  return new RegExp(`^${segments.join('/')}$`);
}

import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { findPagePerson } from '../../identity/page-person.ts';
import { languageOf } from '../../language.ts';
import { AppPages } from './app-pages.ts';
import { dataRoutes } from './data.ts';
import { sessionOf } from './session.ts';
import { redirectToSignIn, signInRoutes } from './sign-in.ts';

/** {base_url}/app: the sign-in of the clients' pages, the data of their sessions, and its plain pages (docs/pages.md). */
export function appRoutes(app: FastifyInstance, context: Context): void {
  // They have no access token: what needs a session asks for it.
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, open: true };
    route.schema = { ...route.schema, hide: true };
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  const pages = new AppPages(context.config);
  signInRoutes(app, context, pages);
  dataRoutes(app, context);

  const script = readFileSync(new URL('./session.js', import.meta.url));
  app.get('/app/session.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(script));
  // Whoever opens a page is active.
  for (const path of ['/app', '/app/*'])
    app.get(path, async (request, reply) => {
      const session = await sessionOf(context, request, true);
      const person = session && (await findPagePerson(context.pool, session.contact_id));
      if (!person) return redirectToSignIn(context, request, reply);
      const language = person.language ?? languageOf(undefined, request.headers['accept-language']);
      return path === '/app' ? pages.home(reply, language, person) : pages.notFound(reply, language);
    });
}

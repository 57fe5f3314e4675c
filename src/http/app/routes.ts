import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { oneHas } from '../../database/cells/directory.ts';
import { findPagePerson, type PagePerson } from '../../identity/people/page-person.ts';
import { languageOf } from '../../values/language.ts';
import { PageApplication } from '../page/application.ts';
import { AppPages } from './app-pages.ts';
import { dataRoutes } from './data.ts';
import { pagesOf } from './pages.ts';
import { securityRoutes } from './security.ts';
import { sessionOf } from './session.ts';
import { redirectToSignIn, signInRoutes } from './sign-in.ts';

interface PageRequest {
  Params: { id?: string };
  Querystring: { client_id?: string | string[] };
}

/** {base_url}/app: the sign-in to the clients' pages, the data of their sessions, and the pages themselves (docs/pages.md). */
export function appRoutes(app: FastifyInstance, context: Context): void {
  const { config, pool } = context;
  // These routes need no access token. Those that need a session check it themselves.
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, open: true };
    route.schema = { ...route.schema, hide: true };
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  const plain = new AppPages(config);
  const pages = new PageApplication(config, { prefix: '/app', source: 'app/main.tsx', address: config.apiUrl });
  signInRoutes(app, context, plain);
  dataRoutes(app, context);
  securityRoutes(app, context);
  pages.assetRoutes(app);

  /** The person who opens a page, which counts as activity; undefined if the answer leads to the sign-in. */
  const visitor = async (request: FastifyRequest, reply: FastifyReply): Promise<PagePerson | undefined> => {
    const session = await sessionOf(context, request, true);
    const person = session && (await findPagePerson(pool, session.contact_id));
    if (!person) redirectToSignIn(context, request, reply);
    return person;
  };
  const languageFor = (person: PagePerson, request: FastifyRequest) =>
    person.language ?? languageOf(undefined, request.headers['accept-language']);

  for (const [path, { source, exists }] of pagesOf(config))
    app.get<PageRequest>(`/app${path}`, async (request, reply) => {
      const person = await visitor(request, reply);
      if (!person) return reply;
      const { client_id: wanted } = request.query;
      const clients = person.clients
        .map(({ client_id: id }) => id)
        .filter((id) => wanted === undefined || id === wanted);
      const { id } = request.params;
      if (exists && id !== undefined && !(await oneHas(pool, clients, (there) => exists(pool, id, there))))
        return plain.notFound(reply, languageFor(person, request));
      return pages.send(reply, languageFor(person, request), source);
    });
  // A person may type it this way.
  app.get('/app/', (request, reply) => reply.redirect(request.url.replace('/app/', '/app'), 302));
  app.get('/app/*', async (request, reply) => {
    const person = await visitor(request, reply);
    return person ? plain.notFound(reply, languageFor(person, request)) : reply;
  });
}

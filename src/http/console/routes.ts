import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/database.ts';
import type { GivenTokens } from '../../operator/given-tokens.ts';
import { StaffProvider } from '../../operator/staff-provider.ts';
import { endStaffSession, type StaffSession } from '../../operator/staff-session.ts';
import { languageOf } from '../../values/language.ts';
import { PageApplication } from '../page/application.ts';
import { enterCell } from '../server/cells.ts';
import { ConsolePages } from './console-pages.ts';
import { CONSOLE_PAGES, isThere } from './pages.ts';
import { searchRoutes } from './search.ts';
import {
  operatorOf,
  personOf,
  requireStaff,
  scopesOf,
  staffCookie,
  staffSessionOf,
  tellStaffSessionEnd,
} from './session.ts';
import type { StaffSessionAnswer } from './session-answer.ts';
import { staffSignInRoutes, toSignIn } from './sign-in.ts';

/** {operator_url}/console: the sign-in of the institution's staff, their sessions, and their pages (docs/console.md). */
export function consoleRoutes(app: FastifyInstance, context: Context, tokens: GivenTokens): void {
  // These routes need no operator token. Those that need a session check it themselves.
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, open: true };
    route.schema = { ...route.schema, hide: true };
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  const { pool, clock, config } = context;
  const plain = new ConsolePages(config);
  const provider = config.staff && new StaffProvider(config.staff);
  const signIn = { pages: plain, provider, tokens };
  app.register(async (scope) => staffSignInRoutes(scope, context, signIn));
  searchRoutes(app, context);

  app.get('/console/session', async (request, reply) => {
    if (!(await staffSessionOf(context, request))) await tellStaffSessionEnd(context, request, reply);
    return shown(context, await requireStaff(context, request));
  });
  // Keys, the pointer and navigation count as activity. A page that only polls does not call this.
  app.post('/console/session/activity', async (request, reply) => {
    await requireStaff(context, request, true);
    return reply.code(204).send();
  });
  app.delete('/console/session', async (request, reply) => {
    const session = await requireStaff(context, request);
    const { actor, staff } = operatorOf(context, session);
    const act = { now: clock.now(), actor, staff, requestId: request.id };
    await transaction(pool, (tx) => endStaffSession(tx, act, session.id));
    return reply.header('set-cookie', staffCookie(context, undefined)).code(204).send();
  });
  app.get<{ Querystring: { state?: unknown } }>('/console/signed-out', async (request, reply) => {
    const back = `${context.addresses.operator}/console/signed-out`;
    const there = provider && (request.query.state === 'done' ? 'done' : await provider.signOutAddress(back));
    return plain.signedOut(reply, languageOf(undefined, request.headers['accept-language']), there);
  });
  const pages = new PageApplication(config, {
    prefix: '/console',
    source: 'console/main.tsx',
    address: config.operatorUrl,
  });
  pages.assetRoutes(app);
  // A person may type it this way.
  app.get('/console/', (request, reply) => reply.redirect(request.url.replace('/console/', '/console'), 302));
  // Opening a page counts as activity.
  for (const [path, page] of [...Object.entries(CONSOLE_PAGES), ['/*', undefined] as const])
    app.get<{ Params: { id?: string } }>(`/console${path}`, async (request, reply) => {
      const session = await staffSessionOf(context, request, true);
      if (!session) return toSignIn(context, signIn, { request, reply });
      const language = languageOf(undefined, request.headers['accept-language']);
      enterCell(request, 'all');
      if (!page || !(await isThere(pool, page.find, request.params.id))) return plain.notFound(reply, language);
      return pages.send(reply, language, page.source);
    });
}

/** The person, its rights, and the remaining time of the session. */
function shown(context: Context, session: StaffSession): StaffSessionAnswer {
  const { clock, config } = context;
  const { roles, scopes } = scopesOf(context, session);
  return {
    name: operatorOf(context, session).name,
    person: personOf(session),
    signed_in_with: session.token ? 'token' : 'provider',
    roles,
    scopes,
    now: clock.now().toISOString(),
    idle_seconds: config.appIdle / 1_000,
    idle_at: new Date(session.last_active_at.getTime() + config.appIdle).toISOString(),
    expires_at: session.expires_at.toISOString(),
  };
}

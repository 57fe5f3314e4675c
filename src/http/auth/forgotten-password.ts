import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isGoodLink, requestPasswordLink, setPasswordByLink } from '../../identity/sign-in/password-link.ts';
import { Problem } from '../../values/errors.ts';
import { type Language, languageOf } from '../../values/language.ts';
import type { PageContext } from './auth-context.ts';
import { form, query, requireSameOrigin } from './form.ts';

/** The most characters of a link's token. */
const MAX_TOKEN_LENGTH = 64;

/** GET and POST /forgotten-password, and /new-password, to which the mailed link leads (docs/signing-in.md, Forgotten password). */
export function forgottenPasswordRoutes(app: FastifyInstance, auth: PageContext): void {
  const { context, pages } = auth;
  const { pool, clock, addresses } = context;

  app.get('/forgotten-password', { config: { page: true } }, (request, reply) => {
    const language = languageOf(query(request).get('ui_locales'), request.headers['accept-language']);
    return pages.send(reply, 200, pages.forgotten(language, `${addresses.auth}/forgotten-password`));
  });

  app.post('/forgotten-password', { config: { page: true, limit: 'sign-in' } }, async (request, reply) => {
    requireSameOrigin(request, context);
    const language = postedLanguage(request);
    await requestPasswordLink(pool, form(request).raw('email') ?? '', clock.now());
    return pages.send(reply, 200, pages.linkSent(language));
  });

  // A mail server that checks links may open this page, so opening it uses nothing up.
  app.get('/new-password', { config: { page: true, limit: 'sign-in' } }, async (request, reply) => {
    const language = languageOf(query(request).get('ui_locales'), request.headers['accept-language']);
    const token = query(request).get('token', MAX_TOKEN_LENGTH) ?? '';
    if (!(await isGoodLink(pool, token, clock.now()))) return sendLinkOver(auth, reply, language);
    return pages.send(reply, 200, pages.newPassword(language, { action: `${addresses.auth}/new-password`, token }));
  });

  app.post('/new-password', { config: { page: true, limit: 'sign-in' } }, async (request, reply) => {
    requireSameOrigin(request, context);
    const language = postedLanguage(request);
    const token = form(request).get('token', MAX_TOKEN_LENGTH) ?? '';
    const password = form(request).raw('password') ?? '';
    try {
      const set = await setPasswordByLink(context, { token, password, requestId: request.id });
      if (!set) return await sendLinkOver(auth, reply, language);
      return await pages.send(reply, 200, pages.passwordSet(language, `${addresses.api}/app`, set.isFirst));
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'invalid_body') throw error;
      const shown = { action: `${addresses.auth}/new-password`, token, weak: true };
      return pages.send(reply, 400, pages.newPassword(language, shown));
    }
  });
}

function postedLanguage(request: FastifyRequest): Language {
  return languageOf(form(request).get('ui_locales'), request.headers['accept-language']);
}

function sendLinkOver({ context, pages }: PageContext, reply: FastifyReply, language: Language): FastifyReply {
  const again = `${context.addresses.auth}/forgotten-password?ui_locales=${language}`;
  return pages.send(reply, 400, pages.linkOver(language, again));
}

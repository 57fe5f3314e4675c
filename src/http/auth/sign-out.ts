import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { endBrowserSession, findBrowserSession } from '../../identity/browser-session.ts';
import { audienceOf, readIdTokenHint } from '../../identity/id-token.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import type { Parameters } from '../../identity/parameters.ts';
import type { Pages } from './pages/pages.ts';
import { languageOf } from './pages/texts.ts';
import {
  applicationOf,
  cookie,
  form,
  type Identity,
  query,
  readCookie,
  refuseForeign,
  withParameters,
} from './requests.ts';

const ANY_SESSION = { none: false, login: false, maxAge: undefined };

/**
 * GET and POST /end-session (OpenID Connect RP-Initiated Logout). An id_token that the application's secret signed is a hint of who
 * asks, no proof: it spares the question, and nothing more. The browser goes on only to an address that is registered, to the letter.
 */
export function signOutRoutes(app: FastifyInstance, identity: Identity, pages: Pages): void {
  const { context } = identity;
  app.get('/end-session', { config: { page: true } }, (request, reply) =>
    signOut(request, reply, query(request), false),
  );
  app.post('/end-session', { config: { page: true } }, (request, reply) => {
    const fields = form(request);
    const confirmed = fields.get('confirmed') === 'yes';
    if (confirmed) refuseForeign(request, context);
    return signOut(request, reply, fields, confirmed);
  });

  const signOut = async (
    request: FastifyRequest,
    reply: FastifyReply,
    parameters: Parameters,
    confirmed: boolean,
  ): Promise<FastifyReply> => {
    const asked = await readRequest(identity, parameters);
    const now = context.clock.now();
    const secret = readCookie(request, context, 'session');
    const session = await findBrowserSession(context.pool, secret, ANY_SESSION, now);
    const language = languageOf(parameters.get('ui_locales'), request.headers['accept-language']);
    if (session && !confirmed && asked.hintedContact !== session.contactId) {
      const page = pages.signOutQuestion(language, `${context.addresses.auth}/end-session`, {
        ...asked.fields,
        ui_locales: language,
        confirmed: 'yes',
      });
      return pages.send(reply, 200, page, asked.goOn);
    }
    if (secret !== undefined) {
      await endBrowserSession(context.pool, secret, now);
      reply.header('set-cookie', cookie(context, 'session', '', 0));
    }
    if (asked.goOn === undefined) return pages.send(reply, 200, pages.signedOut(language));
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
    return reply.redirect(withParameters(asked.goOn, { state: parameters.get('state') }), 302);
  };
}

interface Asked {
  /** The registered address to go on to. */
  goOn: string | undefined;
  hintedContact: string | undefined;
  fields: Record<string, string>;
}

/** @throws OAuthError invalid_request where the address is not one that the application registered */
async function readRequest({ context, applications }: Identity, parameters: Parameters): Promise<Asked> {
  const hint = parameters.get('id_token_hint', 16_384);
  const clientId = parameters.get('client_id') ?? (hint === undefined ? undefined : audienceOf(hint));
  const goOn = parameters.get('post_logout_redirect_uri');
  const fields: Record<string, string> = {};
  for (const name of ['client_id', 'id_token_hint', 'post_logout_redirect_uri', 'state']) {
    const value = parameters.get(name, 16_384);
    if (value !== undefined) fields[name] = value;
  }
  if (clientId === undefined) {
    if (goOn !== undefined)
      throw new OAuthError('invalid_request', 'post_logout_redirect_uri: needs client_id or id_token_hint');
    return { goOn: undefined, hintedContact: undefined, fields };
  }
  const application = await applicationOf(applications, clientId);
  if (goOn !== undefined && !application.postLogoutRedirectUris.includes(goOn)) {
    throw new OAuthError('invalid_request', 'post_logout_redirect_uri: is not registered for the application');
  }
  const read =
    hint === undefined
      ? undefined
      : readIdTokenHint(
          hint,
          context.addresses.auth,
          application.secrets.map(({ secret }) => secret),
        );
  return { goOn, hintedContact: read?.aud === application.id ? read.sub : undefined, fields };
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError, received } from '../../identity/oauth-error.ts';
import type { Parameters } from '../../identity/parameters.ts';
import { endBrowserSession, findBrowserSession } from '../../identity/sign-in/browser-session.ts';
import { audienceOf, readIdTokenHint } from '../../identity/tokens/id-token.ts';
import { languageOf } from '../../values/language.ts';
import type { AuthContext, PageContext } from './auth-context.ts';
import { withParameters } from './authorization-response.ts';
import { readCookie, setCookie } from './cookie.ts';
import { form, query, requireSameOrigin } from './form.ts';

const ANY_SESSION = { none: false, login: false, maxAge: undefined };
/** The most characters of an id_token_hint. */
export const MAX_HINT_LENGTH = 16_384;

/**
 * GET and POST /end-session (OpenID Connect RP-Initiated Logout). With a valid id_token_hint the visitor is not asked whether to sign out;
 * the hint proves nothing else. The browser is only ever sent to an address that is registered, character by character.
 */
export function signOutRoutes(app: FastifyInstance, auth: PageContext): void {
  const page = { config: { page: true } };
  app.get('/end-session', page, (request, reply) =>
    signOut(auth, request, reply, { parameters: query(request), confirmed: false }),
  );
  app.post('/end-session', page, (request, reply) => {
    const parameters = form(request);
    const confirmed = parameters.get('confirmed') === 'yes';
    if (confirmed) requireSameOrigin(request, auth.context);
    return signOut(auth, request, reply, { parameters, confirmed });
  });
}

async function signOut(
  auth: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { parameters, confirmed }: { parameters: Parameters; confirmed: boolean },
): Promise<FastifyReply> {
  const { context, pages } = auth;
  const { redirectUri, hintedContact, fields } = await readSignOut(auth, parameters);
  const now = context.clock.now();
  const secret = readCookie(request, context, 'session');
  const session = await findBrowserSession(context.pool, { secret, prompting: ANY_SESSION, now });
  const language = languageOf(parameters.get('ui_locales'), request.headers['accept-language']);
  if (session && !confirmed && hintedContact !== session.contactId) {
    const posted = { ...fields, ui_locales: language, confirmed: 'yes' };
    const page = pages.signOutQuestion(language, `${context.addresses.auth}/end-session`, posted);
    return pages.send(reply, 200, page, { formTarget: redirectUri });
  }
  if (secret !== undefined) {
    await endBrowserSession(context.pool, secret, now);
    reply.header('set-cookie', setCookie(context, { name: 'session', value: '', maxAgeSeconds: 0 }));
  }
  if (redirectUri === undefined) return pages.send(reply, 200, pages.signedOut(language));
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  return reply.redirect(withParameters(redirectUri, { state: parameters.get('state') }), 302);
}

interface SignOutRequest {
  /** The registered address to which the browser goes afterwards. */
  redirectUri: string | undefined;
  /** The contact of a valid id_token_hint. */
  hintedContact: string | undefined;
  /** The parameters that the page posts when the visitor confirms. */
  fields: Record<string, string>;
}

/** @throws OAuthError invalid_request if the address is not registered for the application */
async function readSignOut(auth: AuthContext, parameters: Parameters): Promise<SignOutRequest> {
  const hint = parameters.get('id_token_hint', MAX_HINT_LENGTH);
  const named = parameters.get('client_id');
  // An id_token that its application's key did not sign identifies no application.
  const claims = hint === undefined ? undefined : await readHint(auth, hint);
  const clientId = named ?? claims?.aud;
  const redirectUri = parameters.get('post_logout_redirect_uri');
  const fields: Record<string, string> = {};
  for (const name of ['client_id', 'id_token_hint', 'post_logout_redirect_uri', 'state']) {
    const value = parameters.get(name, name === 'id_token_hint' ? MAX_HINT_LENGTH : undefined);
    if (value !== undefined) fields[name] = value;
  }
  if (clientId === undefined) {
    if (redirectUri !== undefined)
      throw new OAuthError('invalid_request', 'post_logout_redirect_uri: needs client_id or id_token_hint');
    return { redirectUri: undefined, hintedContact: undefined, fields };
  }
  const application = await auth.applications.require(clientId);
  if (redirectUri !== undefined && !application.postLogoutRedirectUris.includes(redirectUri)) {
    throw new OAuthError(
      'invalid_request',
      `post_logout_redirect_uri: must equal an address that is registered for the application${received(redirectUri)}`,
    );
  }
  return { redirectUri, hintedContact: claims?.aud === application.id ? claims.sub : undefined, fields };
}

/** The claims of an id_token_hint; undefined unless it is signed with a key of the application that it names. */
async function readHint(
  { context, applications }: AuthContext,
  hint: string,
): Promise<{ sub: string; aud: string } | undefined> {
  const application = await applications.find(audienceOf(hint) ?? '');
  const secrets = application?.secrets.map(({ secret }) => secret) ?? [];
  const claims = readIdTokenHint(hint, context.addresses.auth, secrets);
  return claims?.aud === application?.id ? claims : undefined;
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/database.ts';
import { PAGES_APPLICATION, pagesCallback } from '../../identity/applications/own-applications.ts';
import { beginPageSession, endPageSession } from '../../identity/sign-in/page-session.ts';
import { challengeOfVerifier } from '../../identity/tokens/authorization-code.ts';
import { randomToken } from '../../values/crypto.ts';
import { languageOf } from '../../values/language.ts';
import { BegunSignIns, keepPlace, placeWithin } from '../page/begun-sign-ins.ts';
import { ownAddress } from '../page/own-page.ts';
import type { AppPages } from './app-pages.ts';
import { sessionCookie, sessionOf } from './session.ts';

/** State, verifier, and the address to continue with. */
const SIGN_IN = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]*)$/;

function begunSignIns({ addresses }: Context): BegunSignIns {
  return new BegunSignIns({ name: 'app-sign-in', address: addresses.api }, SIGN_IN);
}

/** Sends the browser to the authorization server (OpenID Connect Core, 3.1.2.1, with PKCE). It returns to the page where it was. */
export function redirectToSignIn(context: Context, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { addresses } = context;
  const own = ownAddress(addresses.api, request);
  if (own !== undefined) return reply.redirect(own, 302);
  const [state, verifier] = [randomToken(), randomToken()];
  const back = keepPlace(request.url);
  const query = new URLSearchParams({
    client_id: PAGES_APPLICATION,
    scope: 'openid',
    response_type: 'code',
    state,
    redirect_uri: pagesCallback(addresses.api),
    code_challenge: challengeOfVerifier(verifier),
    code_challenge_method: 'S256',
  });
  reply.header('set-cookie', begunSignIns(context).keep(request, [state, verifier, back]));
  reply.header('cache-control', 'no-store');
  return reply.redirect(`${addresses.auth}/authenticate?${query}`, 302);
}

/** GET /app/callback: the browser returns with a code, from which its session is made. */
export function signInRoutes(app: FastifyInstance, context: Context, pages: AppPages): void {
  app.get<{ Querystring: Record<string, string | string[] | undefined> }>('/app/callback', async (request, reply) => {
    const { pool, clock, addresses } = context;
    const { code, state } = request.query;
    const begun = begunSignIns(context);
    const [kept, verifier = '', back = ''] = begun.find(request, state);
    // A code that this browser did not request could sign it in as somebody else.
    const asked = typeof code === 'string' && kept !== undefined;
    const secret = asked
      ? await beginPageSession(pool, {
          code,
          verifier,
          redirectUri: pagesCallback(addresses.api),
          browser: request.headers['user-agent'] ?? '',
          now: clock.now(),
        })
      : undefined;
    if (kept === undefined || secret === undefined) {
      const language = languageOf(undefined, request.headers['accept-language']);
      return pages.signInFailed(reply, language);
    }
    const former = await sessionOf(context, request);
    if (former) {
      const { id, contact_id: contactId } = former;
      await transaction(pool, (tx) => endPageSession(tx, { id, contactId, now: clock.now() }));
    }
    reply.header('set-cookie', [sessionCookie(context, secret), begun.forget(kept)]);
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
    return reply.redirect(addresses.api + placeWithin('/app', back), 302);
  });
}

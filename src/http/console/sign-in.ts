import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/database.ts';
import type { GivenTokens } from '../../operator/given-tokens.ts';
import { operatorOfToken } from '../../operator/operator.ts';
import type { SignInSecrets, StaffProvider } from '../../operator/staff-provider.ts';
import { beginStaffSession, endStaffSession, rolesOf, type StaffPerson } from '../../operator/staff-session.ts';
import { randomToken } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { readForm } from '../../values/form.ts';
import { languageOf } from '../../values/language.ts';
import { messageOf } from '../../values/unknown.ts';
import { BegunSignIns, keepPlace, placeWithin } from '../page/begun-sign-ins.ts';
import { ownAddress, requireOwnOrigin } from '../page/own-page.ts';
import type { ConsolePages, Refusal } from './console-pages.ts';
import { staffCookie, staffSessionOf } from './session.ts';

/** State, nonce, verifier, and the address to continue with. */
const SIGN_IN = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]*)$/;

/** What the sign-in needs besides the context. */
export interface StaffSignIn {
  pages: ConsolePages;
  /** The institution's OpenID provider; undefined: people sign in with operator tokens. */
  provider: StaffProvider | undefined;
  tokens: GivenTokens;
}

function begunSignIns({ addresses }: Context): BegunSignIns {
  return new BegunSignIns({ name: 'console-sign-in', address: addresses.operator }, SIGN_IN);
}

function callback({ addresses }: Context): string {
  return `${addresses.operator}/console/callback`;
}

const languageFor = ({ headers }: FastifyRequest) => languageOf(undefined, headers['accept-language']);

/** Leads the browser to the sign-in: at the provider, or on the page for a token. It returns to the page where it was. */
export async function toSignIn(
  context: Context,
  { pages, provider }: StaffSignIn,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<FastifyReply> {
  const secrets: SignInSecrets = { state: randomToken(), nonce: randomToken(), verifier: randomToken() };
  reply.header('cache-control', 'no-store');
  const own = ownAddress(context.addresses.operator, request);
  if (own !== undefined) return reply.redirect(own, 302);
  const home = request.url === '/console';
  if (!provider && home) return pages.tokenForm(reply, languageFor(request));
  const kept = [secrets.state, secrets.nonce, secrets.verifier, keepPlace(request.url)];
  reply.header('set-cookie', begunSignIns(context).keep(request, kept));
  if (!provider) return reply.redirect(`${context.addresses.operator}/console`, 302);
  try {
    return reply.redirect(await provider.signInAddress(callback(context), secrets), 302);
  } catch (error) {
    request.log.error({ reason: messageOf(error) }, 'the OpenID provider of the staff does not answer');
    return pages.refused(reply, languageFor(request), 'unreachable');
  }
}

/** GET /console/callback, POST /console/sign-in: how a browser gets its session. */
export function staffSignInRoutes(app: FastifyInstance, context: Context, signIn: StaffSignIn): void {
  const { pages, provider, tokens } = signIn;
  const { clock, config } = context;

  app.get<{ Querystring: { state?: string | string[] } }>('/console/callback', async (request, reply) => {
    const begun = begunSignIns(context);
    const [state, nonce = '', verifier = '', back = ''] = begun.find(request, request.query.state);
    if (!provider || state === undefined) return pages.refused(reply, languageFor(request), 'failed');
    // Used up, whatever the result.
    reply.header('set-cookie', begun.forget(state));
    const query = request.url.slice('/console/callback'.length);
    const person = await provider
      .person(new URL(callback(context) + query), { state, nonce, verifier })
      .catch((error: Error) => {
        request.log.warn({ reason: error.message }, 'a sign-in of the staff was refused');
        return error instanceof Problem ? ('norole' as const) : ('failed' as const);
      });
    if (typeof person === 'string') return pages.refused(reply, languageFor(request), person);
    if (rolesOf(config.staff?.roles ?? [], person.claims).scopes.length === 0) {
      request.log.warn({ subject: person.subject }, 'a person of the staff has no role');
      return pages.refused(reply, languageFor(request), 'norole');
    }
    return begin(context, { request, reply }, { who: person, back });
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new Map(readForm(body))),
  );
  app.post<{ Body: Map<string, string> | undefined }>('/console/sign-in', async (request, reply) => {
    requireOwnOrigin(context.addresses.operator, request);
    const refuse = (refusal: Refusal) => pages.tokenForm(reply, languageFor(request), refusal);
    if (provider) throw new Problem('permission_denied', 'staff sign in at their OpenID provider');
    const text = request.body?.get('token')?.trim() ?? '';
    const token = await tokens.find(text, clock.now()).catch((error) => {
      if (error instanceof Problem) return undefined;
      throw error;
    });
    if (!token) return refuse('wrongtoken');
    const begun = begunSignIns(context);
    const [state, , , back = ''] = begun.newest(request);
    if (state !== undefined) reply.header('set-cookie', begun.forget(state));
    return begin(context, { request, reply }, { who: { token, text }, back });
  });
}

type Beginner = StaffPerson | { token: Parameters<typeof operatorOfToken>[0]; text: string };

/** Begins a session with a new secret, ends the browser's previous one, and returns to the page that was requested. */
async function begin(
  context: Context,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { who, back }: { who: Beginner; back: string },
): Promise<FastifyReply> {
  const { pool, clock, addresses } = context;
  const base = { now: clock.now(), requestId: request.id };
  const act =
    'token' in who
      ? { ...base, actor: operatorOfToken(who.token).actor }
      : { ...base, actor: `staff:${who.name}`, staff: { issuer: who.issuer, subject: who.subject } };
  const former = await staffSessionOf(context, request);
  const secret = await transaction(pool, async (tx) => {
    if (former) await endStaffSession(tx, act, former.id);
    return beginStaffSession(tx, act, {
      who: 'token' in who ? { tokenId: who.token.id, token: who.text } : who,
      browser: request.headers['user-agent'] ?? '',
    });
  });
  reply.header('set-cookie', staffCookie(context, secret));
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  return reply.redirect(addresses.operator + placeWithin('/console', back), 302);
}

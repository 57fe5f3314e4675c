import { DEMO_APPLICATION, DEMO_CONTACTS, DEMO_PASSWORD } from '../../sandbox/demonstration/institution.ts';
import { fieldsOf, listOf } from '../../values/unknown.ts';
import { answered, CommandFailure, NOT_SIGNED_IN, reach } from '../failure.ts';
import { callOperator } from '../operator-call.ts';
import type { Profile } from '../profile.ts';
import type { Running } from '../running.ts';

/** Signs in the demonstration's first contact with the demonstration's application. @throws CommandFailure if it cannot sign in */
export async function signInDemonstration({ api, auth }: Running): Promise<Profile> {
  const [contact] = DEMO_CONTACTS;
  const { client_id: id, client_secret: secret } = DEMO_APPLICATION;
  const { code, redirectUri } = await authorize(auth, contact?.email ?? '');
  const answer = await reach(`${auth}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
  });
  const tokens = await answered(answer);
  if (!answer.ok) throw refused(auth, tokens.error_description ?? answer.status);
  return {
    api_url: api,
    auth_url: auth,
    contact_id: contact?.contact_id ?? '',
    client_id: contact?.clients[0]?.client_id ?? '',
    access_token: String(tokens.access_token),
    refresh_token: String(tokens.refresh_token),
  };
}

/**
 * An authorization code, with the redirect address for which it was issued. A developer may have changed the application's addresses, so
 * the answer says which one was used.
 */
async function authorize(auth: string, email: string): Promise<{ code: string; redirectUri: string }> {
  const login = { email, password: DEMO_PASSWORD, client_id: DEMO_APPLICATION.client_id, state: 'command' };
  const ask = (fields: Record<string, string>) =>
    reach(`${auth}/authenticate`, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) });
  let answer = await ask(login);
  // If several addresses are registered, one must be named.
  if (answer.status === 400) answer = await ask({ ...login, redirect_uri: await registeredAddress() });
  const location = answer.headers.get('location') ?? '';
  const [, redirectUri, code] = /^(.+)[?&]code=([\w-]+)&state=command&iss=/.exec(location) ?? [];
  if (redirectUri !== undefined && code !== undefined) return { code, redirectUri };
  const { error_description: why } = await answered(answer);
  throw refused(auth, why ?? reasonIn(location) ?? answer.status);
}

/** An address of the application, from the operator interface. Without a token for that, the demonstration's. */
async function registeredAddress(): Promise<string> {
  const call = { method: 'GET', path: `/applications/${DEMO_APPLICATION.client_id}` } as const;
  const application = await callOperator({}, call).catch(() => undefined);
  const [first = DEMO_APPLICATION.redirect_uri] = listOf(fieldsOf(application).redirect_uris);
  return String(first);
}

function reasonIn(location: string): string | undefined {
  if (!URL.canParse(location)) return undefined;
  const { pathname, searchParams } = new URL(location);
  if (pathname.endsWith('/2fa')) return 'it has a second factor';
  return searchParams.get('error_description') ?? undefined;
}

function refused(auth: string, why: unknown): CommandFailure {
  return new CommandFailure(
    `the demonstration's contact cannot sign in at ${auth} (${why}); lombard login signs in as another one`,
    NOT_SIGNED_IN,
  );
}

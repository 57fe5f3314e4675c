import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readConfig } from '../../settings/config.ts';
import { fieldsOf, messageOf } from '../../values/unknown.ts';
import { answered, CommandFailure, httpAddress, interruption, NOT_SIGNED_IN, reach, USAGE } from '../failure.ts';
import { type Call, example, type Frame } from '../frame.ts';
import { DEFAULT_PROFILE, type Profile, readProfile, removeProfile, writeProfile } from '../profile.ts';
import { readRunning } from '../running.ts';
import { AuthorizationServer, type Person } from './authorization-server.ts';
import { Callback } from './callback.ts';

/** For `state`, and for PKCE's verifier (RFC 7636, 4.1). */
const RANDOM_BYTES = 32;

/** `lombard login`, `logout` and `whoami`. */
export function signInCommands(frame: Frame): void {
  const login = frame.program
    .command('login')
    .description('sign in with the browser; in a directory with a running sandbox this is not necessary')
    .option('--api-url <address>', 'client API (default: of the running sandbox, or as at the last sign-in)')
    .option('--auth-url <address>', 'authorization server (default: the one that the client API names)')
    .option('--headless', 'open no browser; print the address, and take the redirected address on standard input too');
  example(
    login,
    'login --api-url https://api.bank.example --auth-url https://auth.bank.example',
    'login --headless --profile production --api-url https://api.bank.example',
  );
  frame.does(login, signIn);

  const logout = frame.program.command('logout').description('sign out: revoke the tokens and forget them');
  frame.does(example(logout, 'logout', 'logout --profile production'), signOut);

  const whoami = frame.program.command('whoami').description('show who is signed in, where, and for which clients');
  frame.asContact(example(whoami, 'whoami', 'whoami --profile production --json'), async ({ session, print }) => {
    // This refreshes an expired access token.
    await session.renew();
    const server = await AuthorizationServer.at(session.profile.auth_url);
    const { sub, name, email, clients } = await server.person(session.accessToken);
    const { api_url, auth_url } = session.profile;
    const application = session.application.id;
    print.record({
      contact_id: sub,
      name,
      email,
      client_id: session.clientId,
      clients,
      api_url,
      auth_url,
      application,
    });
  });
}

async function signIn({ options, globals, print }: Call): Promise<void> {
  const name = globals.profile ?? DEFAULT_PROFILE;
  const { api, auth } = await addressesFor(options, name);
  const server = await AuthorizationServer.at(auth);
  const state = randomBytes(RANDOM_BYTES).toString('base64url');
  const verifier = randomBytes(RANDOM_BYTES).toString('base64url');
  const callback = await Callback.open(
    { state, issuer: server.issuer },
    { typed: options.headless === true, interrupted: interruption() },
  );
  try {
    const { redirectUri } = callback;
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const address = server.pageFor({ redirectUri, state, challenge });
    print.entry(`Open this address to sign in:\n${address}`, { authorization_url: address });
    if (options.headless) print.note('Or paste the address that the browser ends at, and press Enter.');
    else openBrowser(address);
    const tokens = await server.exchange(await callback.code, { redirectUri, verifier });
    const person = await server.person(tokens.access_token);
    const clientId = clientOf(person, globals.client);
    const { access_token, refresh_token } = tokens;
    const profile = {
      api_url: api,
      auth_url: auth,
      contact_id: person.sub,
      client_id: clientId,
      access_token,
      refresh_token,
    };
    await writeProfile(name, profile);
    const who = person.name === undefined ? person.sub : `${person.name} (${person.sub})`;
    print.done(`signed in as ${who}; client ${clientId}`, {
      profile: name,
      contact_id: person.sub,
      client_id: clientId,
    });
  } finally {
    callback.close();
  }
}

/** The addresses to sign in at: the named ones, or else those of the running sandbox, or else those of the last sign-in. @throws CommandFailure */
async function addressesFor(options: Call['options'], name: string): Promise<{ api: string; auth: string }> {
  const [apiUrl, authUrl] = [address('--api-url', options.apiUrl), address('--auth-url', options.authUrl)];
  const running = readRunning(readConfig());
  const last = readProfile(name);
  const api = apiUrl ?? running?.api ?? last?.api_url;
  if (api === undefined)
    throw new CommandFailure('login: needs --api-url, because no sandbox runs on the data directory', USAGE);
  if (authUrl !== undefined) return { api, auth: authUrl };
  if (running?.api === api) return { api, auth: running.auth };
  return { api, auth: last?.api_url === api ? last.auth_url : await namedBy(api) };
}

/** The authorization server in the description of a client API. @throws CommandFailure */
async function namedBy(api: string): Promise<string> {
  const answer = await reach(`${api}/openapi.json`);
  const { securitySchemes } = fieldsOf((await answered(answer)).components);
  const addresses = Object.values(fieldsOf(securitySchemes)).map((scheme) => fieldsOf(scheme).openIdConnectUrl);
  const discovery = addresses.find((each) => typeof each === 'string');
  if (discovery === undefined)
    throw new CommandFailure(`login: needs --auth-url, because ${api} does not name its authorization server`, USAGE);
  return discovery.replace(/\/\.well-known\/.*$/, '');
}

function address(option: string, given: Call['options'][string]): string | undefined {
  return given === undefined ? undefined : httpAddress(option, String(given));
}

function clientOf({ sub, clients }: Person, wanted: string | undefined): string {
  const [first] = clients;
  if (!first) throw new CommandFailure(`${sub} may act for no client; ask the institution for access`);
  if (wanted === undefined) return first.client_id;
  const found = clients.some(({ client_id }) => client_id === wanted);
  const ids = clients.map(({ client_id }) => client_id).join(', ');
  if (!found) throw new CommandFailure(`--client: ${sub} may act for ${ids}, not for "${wanted}"`, USAGE);
  return wanted;
}

async function signOut({ globals, print }: Call): Promise<void> {
  const name = globals.profile ?? DEFAULT_PROFILE;
  const profile: Profile | undefined = readProfile(name);
  if (!profile) throw new CommandFailure(`nobody is signed in as profile ${name}`, NOT_SIGNED_IN);
  await removeProfile(name);
  try {
    await (await AuthorizationServer.at(profile.auth_url)).revoke(profile.refresh_token);
  } catch (error) {
    const why = messageOf(error);
    throw new CommandFailure(`the tokens are forgotten here, but could not be revoked: ${why}`);
  }
  print.done('signed out; the tokens are revoked', { profile: name, done: 'signed out' });
}

/** The programs that open an address in the person's browser. */
const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens an address in the browser. The address is also printed, so that the person can open it if there is no browser. */
function openBrowser(address: string): void {
  const [program, ...options]: [string, ...string[]] = OPENERS[process.platform] ?? ['xdg-open'];
  const opener = spawn(program, [...options, address], { stdio: 'ignore', detached: true });
  opener.on('error', () => {});
  opener.unref();
}

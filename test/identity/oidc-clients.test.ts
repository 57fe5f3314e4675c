import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { Auth, skipCSRFCheck } from '@auth/core';
import * as openid from 'openid-client';
import passport from 'passport';
import { listening } from '../world/ports.ts';
import { startTestService, type TestService } from '../world/service.ts';
import {
  CALLBACK,
  createApplication,
  createPerson,
  PASSWORD,
  type Person,
  refreshTokens,
  type TestApplication,
  Visitor,
} from '../world/visitor.ts';

/** The client libraries that applications use, signing in and refreshing as their documentation says. */

let service: TestService;
let application: TestApplication;
let person: Person;

before(async () => {
  service = await startTestService();
  application = await createApplication(service);
  person = await createPerson(service);
});
after(() => service.stop());

/** What the person does between the application's redirect and its callback. */
async function signInAt(address: string | URL): Promise<URL> {
  const visitor = new Visitor();
  const page = await visitor.get(address);
  assert.equal(page.status, 200, page.text);
  const answer = await visitor.submit(page, { email: person.email, password: PASSWORD });
  assert.equal(answer.status, 302, answer.text);
  assert.ok(answer.location);
  return answer.location;
}

async function useOpenidClient(config: openid.Configuration): Promise<void> {
  const verifier = openid.randomPKCECodeVerifier();
  const [state, nonce] = [openid.randomState(), openid.randomNonce()];
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  });
  const tokens = await openid.authorizationCodeGrant(config, await signInAt(address), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  assert.equal(tokens.claims()?.sub, person.contactId);
  assert.deepEqual(tokens.claims()?.clients, [{ client_id: person.clientId, client_name: 'Acme & Sons' }]);
  const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', { scope: 'openid' });
  assert.notEqual(refreshed.access_token, tokens.access_token);
  await openid.refreshTokenGrant(config, refreshed.refresh_token ?? '');
  const user = await openid.fetchUserInfo(config, refreshed.access_token, person.contactId);
  assert.equal(user.email, person.email);
  const told = await openid.tokenIntrospection(config, refreshed.access_token);
  assert.equal(told.active, true);
  await openid.tokenRevocation(config, refreshed.access_token);
  assert.equal((await openid.tokenIntrospection(config, refreshed.access_token)).active, false);
}

const HS256 = { id_token_signed_response_alg: 'HS256' };

test('openid-client finds everything by discovery', async () => {
  for (const authenticate of [openid.ClientSecretBasic, openid.ClientSecretPost]) {
    const config = await openid.discovery(
      new URL(service.auth),
      application.id,
      HS256,
      authenticate(application.secret),
      {
        execute: [openid.allowInsecureRequests],
      },
    );
    await useOpenidClient(config);
  }
});

test('openid-client finds everything by RFC 8414', async () => {
  const config = await openid.discovery(
    new URL(service.auth),
    application.id,
    HS256,
    openid.ClientSecretBasic(application.secret),
    {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    },
  );
  await useOpenidClient(config);
  const leave = openid.buildEndSessionUrl(config, {});
  assert.equal(leave.pathname, '/end-session');
});

test('openid-client with metadata written by hand', async () => {
  const config = new openid.Configuration(
    {
      issuer: service.auth,
      authorization_endpoint: `${service.auth}/authenticate`,
      token_endpoint: `${service.auth}/token`,
      userinfo_endpoint: `${service.auth}/userinfo`,
      revocation_endpoint: `${service.auth}/revoke`,
      introspection_endpoint: `${service.auth}/introspect`,
    },
    application.id,
    HS256,
    openid.ClientSecretBasic(application.secret),
  );
  openid.allowInsecureRequests(config);
  await useOpenidClient(config);
});

test('openid-client understands a refusal', async () => {
  const config = await openid.discovery(
    new URL(service.auth),
    application.id,
    HS256,
    openid.ClientSecretBasic(application.secret),
    {
      execute: [openid.allowInsecureRequests],
    },
  );
  await assert.rejects(
    openid.refreshTokenGrant(config, 'unknown', { scope: 'openid' }),
    (error: openid.ResponseBodyError) => {
      assert.equal(error.error, 'invalid_grant');
      return true;
    },
  );
  const state = openid.randomState();
  const address = openid.buildAuthorizationUrl(config, { redirect_uri: CALLBACK, scope: 'profile', state });
  const refused = await new Visitor().get(address);
  await assert.rejects(
    openid.authorizationCodeGrant(config, refused.location ?? new URL(CALLBACK), { expectedState: state }),
    (error: openid.AuthorizationResponseError) => {
      assert.equal(error.error, 'invalid_scope');
      return true;
    },
  );
});

test('Auth.js', async () => {
  const base = 'https://app.example.com';
  const own = await createApplication(service, { redirect_uris: [`${base}/auth/callback/lombard`] });
  let refreshToken: string | undefined;
  let accessToken: string | undefined;
  const config = {
    secret: 'a secret of the application that nobody knows',
    trustHost: true,
    basePath: '/auth',
    skipCSRFCheck,
    providers: [
      {
        id: 'lombard',
        name: 'Lombard',
        type: 'oidc' as const,
        issuer: service.auth,
        clientId: own.id,
        clientSecret: own.secret,
        client: HS256,
        // The name and email are in userinfo; the id_token has the claims of the service interface only.
        idToken: false,
        checks: ['pkce', 'state', 'nonce'] as ('pkce' | 'state' | 'nonce')[],
      },
    ],
    callbacks: {
      jwt({
        token,
        account,
      }: {
        token: Record<string, unknown>;
        account?: { refresh_token?: string; access_token?: string } | null;
      }) {
        refreshToken = account?.refresh_token ?? refreshToken;
        accessToken = account?.access_token ?? accessToken;
        return token;
      },
    },
  };
  const jar = new Map<string, string>();
  const call = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = (await Auth(
      new Request(url, { ...init, headers: { ...(init.headers as object), cookie } }),
      config as never,
    )) as Response;
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    return answer;
  };
  const start = await call(`${base}/auth/signin/lombard`, {
    method: 'POST',
    body: new URLSearchParams({ callbackUrl: `${base}/after` }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const address = start.headers.get('location') ?? '';
  assert.equal(new URL(address).searchParams.get('scope'), 'openid profile email');
  const done = await call((await signInAt(address)).toString());
  assert.equal(done.headers.get('location'), `${base}/after`, await done.text());
  const session = (await (await call(`${base}/auth/session`)).json()) as { user: { name: string; email: string } };
  assert.deepEqual(session.user, { name: 'Ada Lovelace', email: person.email });
  assert.ok(accessToken);
  // The refresh of its guide, refresh token rotation: credentials in the body, no scope.
  const fields = {
    client_id: own.id,
    client_secret: own.secret,
    grant_type: 'refresh_token',
    refresh_token: refreshToken ?? '',
  };
  const refreshed = await fetch(`${service.auth}/token`, { method: 'POST', body: new URLSearchParams(fields) });
  assert.equal(refreshed.status, 200);
});

test('passport-openidconnect', async () => {
  const { Strategy } = createRequire(import.meta.url)('passport-openidconnect');
  type AppRequest = IncomingMessage & { query: Record<string, string>; session: object; user?: Record<string, string> };
  const session = {};
  const handle = passport.authenticate('openidconnect', { session: false }) as (
    request: unknown,
    response: unknown,
    next: (error?: Error) => void,
  ) => void;
  const app = createServer((incoming, response) => {
    const request = incoming as AppRequest;
    request.query = Object.fromEntries(new URL(incoming.url ?? '', 'http://app').searchParams);
    request.session = session;
    handle(request, response, (error) =>
      response.writeHead(error ? 500 : 200).end(error ? error.message : JSON.stringify(request.user)),
    );
  });
  const address = `http://127.0.0.1:${await listening(app)}`;
  const own = await createApplication(service, { redirect_uris: [`${address}/callback`] });
  passport.use(
    new Strategy(
      {
        issuer: service.auth,
        authorizationURL: `${service.auth}/authenticate`,
        tokenURL: `${service.auth}/token`,
        userInfoURL: `${service.auth}/userinfo`,
        clientID: own.id,
        clientSecret: own.secret,
        callbackURL: `${address}/callback`,
        nonce: true,
        skipUserProfile: false,
      },
      // Its length tells the library what to pass.
      (
        _issuer: string,
        profile: object,
        _context: object,
        _idToken: string,
        access: string,
        refresh: string,
        done: (error: null, user: object) => void,
      ) => done(null, { ...profile, access, refresh }),
    ),
  );
  try {
    const start = await fetch(`${address}/login`, { redirect: 'manual' });
    assert.equal(start.status, 302);
    const callback = await signInAt(start.headers.get('location') ?? '');
    const answer = await fetch(callback);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    const user = JSON.parse(text);
    assert.equal(user.id, person.contactId);
    assert.deepEqual(user.emails, [{ value: person.email }]);
    const refreshed = await refreshTokens(service, own, user.refresh);
    assert.equal(refreshed.status, 200);
  } finally {
    app.closeAllConnections();
    app.close();
  }
});

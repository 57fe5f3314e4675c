import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import {
  authorizeUrl,
  CALLBACK,
  claimsOf,
  createApplication,
  createPerson,
  credentials,
  exchange,
  later,
  PASSWORD,
  type Person,
  refreshTokens,
  signInHeadless,
  type TestApplication,
  tokenCall,
  tokensOf,
  Visitor,
} from '../world/visitor.ts';

let service: TestService;
let application: TestApplication;
let person: Person;

before(async () => {
  service = await startTestService();
  application = await createApplication(service);
  person = await createPerson(service);
});
after(() => service.stop());

describe('the page', () => {
  test('signs in, and the code and state go to the registered address with iss', async () => {
    const visitor = new Visitor();
    const page = await visitor.get(authorizeUrl(service, application, { state: 'a b&c=d"<é' }));
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /text\/html/);
    const answer = await visitor.submit(page, { email: person.email, password: PASSWORD });
    assert.equal(answer.status, 302, answer.text);
    assert.equal(`${answer.location?.origin}${answer.location?.pathname}`, CALLBACK);
    assert.equal(answer.location?.searchParams.get('state'), 'a b&c=d"<é');
    assert.equal(answer.location?.searchParams.get('iss'), service.auth);
    const tokens = await exchange(service, application, answer.location?.searchParams.get('code') ?? '');
    assert.equal(tokens.status, 200, tokens.text);
  });

  test('takes the form at /login too', async () => {
    const answer = await new Visitor().post(
      `${service.auth}/login`,
      { email: person.email, password: PASSWORD, client_id: application.id, state: 's' },
      { 'no-redirect': 'application/json' },
    );
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['code']);
  });

  test('keeps the email and says what is wrong, in four languages', async () => {
    const visitor = new Visitor();
    for (const [language, title, refused] of [
      ['en', 'Sign in', 'is not right'],
      ['de-AT, en;q=0.5', 'Anmelden', 'stimmt nicht'],
      ['xx, fr;q=0.9', 'Connexion', 'est incorrect'],
      ['es-MX', 'Iniciar sesión', 'no es correcto'],
    ]) {
      visitor.headers['accept-language'] = language ?? '';
      const page = await visitor.get(authorizeUrl(service, application));
      assert.ok(page.text.includes(`<h1>${title}</h1>`), language);
      const again = await visitor.submit(page, { email: 'nobody@example.com', password: 'not the password' });
      assert.equal(again.status, 400);
      assert.ok(again.text.includes(refused ?? ''), again.text);
      assert.ok(again.text.includes('value="nobody@example.com"'));
      assert.ok(again.text.includes('role="alert"'));
    }
  });

  test('ui_locales goes before Accept-Language', async () => {
    const page = await new Visitor().get(authorizeUrl(service, application, { ui_locales: 'xx fr-CA' }));
    assert.match(page.text, /<html lang="fr">/);
  });

  test('answers wrong requests at the application, with error and state', async () => {
    for (const [more, error] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_type: undefined }, 'invalid_request'],
      [{ scope: 'profile' }, 'invalid_scope'],
      [{ scope: undefined }, 'invalid_request'],
      [{ response_mode: 'fragment' }, 'invalid_request'],
      [{ prompt: 'none' }, 'login_required'],
      [{ request: 'x.y.z' }, 'request_not_supported'],
      [{ code_challenge: 'x', code_challenge_method: 'plain' }, 'invalid_request'],
      [{ max_age: '-1' }, 'invalid_request'],
      [{ scope: 'openid\0' }, 'invalid_request'],
      [{ nonce: '\0' }, 'invalid_request'],
    ] as const) {
      const answer = await new Visitor().get(authorizeUrl(service, application, more));
      assert.equal(answer.status, 302, JSON.stringify(more));
      assert.equal(answer.location?.searchParams.get('error'), error, JSON.stringify(more));
      assert.equal(answer.location?.searchParams.get('state'), 'state-1');
      assert.equal(answer.location?.searchParams.get('iss'), service.auth);
      assert.equal(answer.location?.searchParams.get('code'), null);
    }
    const stateless = await new Visitor().get(authorizeUrl(service, application, { state: undefined }));
    assert.equal(stateless.location?.searchParams.get('error'), 'invalid_request');
    assert.equal(stateless.location?.searchParams.get('state'), null);
    const unstorable = await new Visitor().get(authorizeUrl(service, application, { state: 'a\0' }));
    assert.match(unstorable.location?.searchParams.get('error_description') ?? '', /^state: must not contain a NUL/);
    // Nobody reads a parameter that is not known.
    assert.equal((await new Visitor().get(`${authorizeUrl(service, application)}&other=%FF`)).status, 200);
  });

  test('a bad client_id or redirect_uri shows a page and never redirects', async () => {
    for (const more of [
      { client_id: 'nobody' },
      { client_id: undefined },
      { client_id: '../../etc' },
      { redirect_uri: 'https://evil.example/' },
      { redirect_uri: undefined },
      { redirect_uri: '\0' },
    ]) {
      const answer = await new Visitor().get(authorizeUrl(service, application, more));
      assert.equal(answer.status, 400, JSON.stringify(more));
      assert.equal(answer.location, undefined);
      assert.match(answer.headers.get('content-type') ?? '', /text\/html/);
    }
    const json = new Visitor();
    json.headers = { accept: 'application/json' };
    const answer = await json.get(authorizeUrl(service, application, { client_id: 'nobody' }));
    assert.equal(answer.body.error, 'invalid_request');
  });

  test('a scope that contains openid is enough', async () => {
    const page = await new Visitor().get(
      authorizeUrl(service, application, { scope: 'profile openid email offline_access' }),
    );
    assert.equal(page.status, 200);
  });
});

describe('headless', () => {
  test('redirects to the only registered address, or gives the code as JSON', async () => {
    const answer = await new Visitor().post(`${service.auth}/authenticate`, {
      email: person.email.toUpperCase(),
      password: PASSWORD,
      client_id: application.id,
      state: 'xyz',
    });
    assert.equal(answer.status, 302, answer.text);
    assert.equal(answer.location?.searchParams.get('state'), 'xyz');
    assert.equal((await exchange(service, application, answer.location?.searchParams.get('code') ?? '')).status, 200);
    const json = await signInHeadless(service, application, person);
    assert.equal(json.status, 200);
    assert.equal((await exchange(service, application, json.body.code)).status, 200);
  });

  test('names the address where several are registered', async () => {
    const several = await createApplication(service, {
      redirect_uris: [CALLBACK, 'https://app.example.com/other?x=1'],
    });
    const unnamed = await signInHeadless(service, several, person);
    assert.equal(unnamed.status, 400);
    assert.equal(unnamed.body.error, 'invalid_request');
    const named = await new Visitor().post(`${service.auth}/authenticate`, {
      email: person.email,
      password: PASSWORD,
      client_id: several.id,
      state: 's',
      redirect_uri: 'https://app.example.com/other?x=1',
    });
    assert.equal(named.status, 302);
    assert.equal(named.location?.searchParams.get('x'), '1');
    const code = named.location?.searchParams.get('code') ?? '';
    assert.equal((await exchange(service, several, code)).body.error, 'invalid_grant');
    assert.equal(
      (await exchange(service, several, code, { redirect_uri: 'https://app.example.com/other?x=1' })).status,
      200,
    );
  });

  test('is refused to an application without it', async () => {
    const paged = await createApplication(service, { headless_sign_in: false });
    const answer = await signInHeadless(service, paged, person);
    assert.equal(answer.status, 400);
    assert.equal(answer.body.error, 'unauthorized_client');
    const visitor = new Visitor();
    const page = await visitor.get(authorizeUrl(service, paged));
    assert.equal((await visitor.submit(page, { email: person.email, password: PASSWORD })).status, 302);
  });

  test('a wrong password: invalid_grant as JSON, access_denied as redirect', async () => {
    const json = await signInHeadless(service, application, person, { password: 'wrong password' });
    assert.equal(json.status, 400);
    assert.equal(json.body.error, 'invalid_grant');
    const redirected = await new Visitor().post(`${service.auth}/authenticate`, {
      email: person.email,
      password: 'wrong password',
      client_id: application.id,
      state: 'xyz',
    });
    assert.equal(redirected.status, 302);
    assert.equal(redirected.location?.searchParams.get('error'), 'access_denied');
    assert.equal(redirected.location?.searchParams.get('state'), 'xyz');
  });

  test('missing fields, a wrong content type, too large a body', async () => {
    for (const missing of ['email', 'password', 'client_id', 'state']) {
      const answer = await signInHeadless(service, application, person, { [missing]: '' });
      assert.equal(answer.status, 400, missing);
      assert.equal(answer.body.error, 'invalid_request', missing);
    }
    const json = await fetch(`${service.auth}/token`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(json.status, 415);
    assert.equal(((await json.json()) as { error: string }).error, 'invalid_request');
    const large = await signInHeadless(service, application, person, { password: 'x'.repeat(1_100_000) });
    assert.equal(large.status, 413);
  });
});

describe('tokens', () => {
  test('the answer and the id_token are as specified', async () => {
    const tokens = await tokensOf(service, application, person);
    assert.equal(tokens.token_type, 'Bearer');
    assert.equal(tokens.expires_in, 3600);
    const [header = '', payload = '', signature] = tokens.id_token.split('.');
    assert.equal(JSON.parse(Buffer.from(header, 'base64url').toString()).alg, 'HS256');
    assert.equal(
      createHmac('sha256', application.secret).update(`${header}.${payload}`).digest('base64url'),
      signature,
    );
    const claims = claimsOf(tokens.id_token);
    assert.equal(claims.iss, service.auth);
    assert.equal(claims.aud, application.id);
    assert.equal(claims.sub, person.contactId);
    assert.equal(Number(claims.exp) - Number(claims.iat), 3600);
    assert.deepEqual(claims.clients, [{ client_id: person.clientId, client_name: 'Acme & Sons' }]);
    const answer = await service.client(
      tokens.access_token,
      'GET',
      `/accounts/currency-accounts?client_id=${person.clientId}`,
    );
    assert.equal(answer.status, 200);
  });

  test('an access token expires after an hour, and its refresh token after 28 days', async () => {
    const tokens = await tokensOf(service, application, person);
    const path = `/accounts/currency-accounts?client_id=${person.clientId}`;
    assert.equal((await service.client(tokens.access_token, 'GET', path)).status, 200);
    await later(service, 3_601, async () => {
      const answer = await service.client(tokens.access_token, 'GET', path);
      assert.equal(answer.status, 401);
      assert.equal(answer.body.code, 'token_expired');
    });
    await later(service, 28 * 86_400 + 1, async () => {
      assert.equal((await refreshTokens(service, application, tokens.refresh_token)).body.error, 'invalid_grant');
    });
    await later(service, 28 * 86_400 - 10, async () => {
      assert.equal((await refreshTokens(service, application, tokens.refresh_token)).status, 200);
    });
  });

  test('a code expires after ten minutes', async () => {
    const code = (await signInHeadless(service, application, person)).body.code;
    await later(service, 601, async () =>
      assert.equal((await exchange(service, application, code)).body.error, 'invalid_grant'),
    );
    assert.equal((await exchange(service, application, code)).status, 200);
  });

  test('the ten newest refresh tokens work, the eleventh newest does not', async () => {
    const someone = await createPerson(service);
    const issued: string[] = [(await tokensOf(service, application, someone)).refresh_token];
    while (issued.length < 10)
      issued.push((await refreshTokens(service, application, issued[0] ?? '')).body.refresh_token);
    // Ten have been issued, and the first one still counts; using it makes it the eleventh.
    const eleventh = await refreshTokens(service, application, issued[0] ?? '');
    assert.equal(eleventh.status, 200);
    const pushedOut = await refreshTokens(service, application, issued[0] ?? '');
    assert.equal(pushedOut.status, 400);
    assert.equal(pushedOut.body.error, 'invalid_grant');
    assert.equal((await refreshTokens(service, application, issued[1] ?? '')).status, 200);
    assert.equal((await refreshTokens(service, application, issued[1] ?? '')).status, 400);
    assert.equal((await refreshTokens(service, application, eleventh.body.refresh_token)).status, 200);
  });

  test('another application of the same contact has ten of its own', async () => {
    const other = await createApplication(service);
    const mine = (await tokensOf(service, application, person)).refresh_token;
    for (let count = 0; count < 11; count += 1) await tokensOf(service, other, person);
    assert.equal((await refreshTokens(service, application, mine)).status, 200);
  });

  test('errors of the token endpoint are RFC 6749', async () => {
    const call = (
      fields: Record<string, string>,
      headers: Record<string, string> = { authorization: application.basic },
    ) => new Visitor().post(`${service.auth}/token`, fields, { accept: '*/*', ...headers });
    const wrongSecret = await call(
      { grant_type: 'refresh_token', refresh_token: 'x' },
      { authorization: credentials(application.id, 'wrong').basic },
    );
    assert.equal(wrongSecret.status, 401);
    assert.equal(wrongSecret.body.error, 'invalid_client');
    assert.match(wrongSecret.headers.get('www-authenticate') ?? '', /^Basic /);
    assert.equal(wrongSecret.headers.get('cache-control'), 'no-store');
    assert.equal((await call({}, {})).body.error, 'invalid_client');
    assert.equal((await call({}, { authorization: 'Basic !!!' })).body.error, 'invalid_client');
    assert.equal((await call({})).body.error, 'invalid_request');
    assert.equal((await call({ grant_type: 'password' })).body.error, 'unsupported_grant_type');
    assert.equal((await call({ grant_type: 'client_credentials' })).body.error, 'unsupported_grant_type');
    assert.equal((await call({ grant_type: 'authorization_code' })).body.error, 'invalid_request');
    assert.equal((await call({ grant_type: 'refresh_token' })).body.error, 'invalid_request');
    assert.equal((await call({ grant_type: 'refresh_token', refresh_token: 'x' })).body.error, 'invalid_grant');
    assert.equal(
      (await call({ grant_type: 'refresh_token', refresh_token: 'x', scope: 'email' })).body.error,
      'invalid_scope',
    );
    const get = await new Visitor().get(`${service.auth}/token`);
    assert.equal(get.status, 405);
  });

  test('the application authenticates by Basic raw or form-encoded, or in the body, but not twice', async () => {
    const odd = await createApplication(service, { client_id: `odd.app-${Date.now()}` });
    const encoded = credentials(
      encodeURIComponent(odd.id).replaceAll('.', '%2E'),
      encodeURIComponent(odd.secret).replaceAll('-', '%2D'),
    );
    const refresh = async () => ({
      grant_type: 'refresh_token',
      refresh_token: (await tokensOf(service, odd, person)).refresh_token as string,
    });
    assert.equal((await tokenCall(service, { ...odd, basic: encoded.basic }, await refresh())).status, 200);
    const posted = { client_id: odd.id, client_secret: odd.secret };
    const body = await new Visitor().post(`${service.auth}/token`, { ...(await refresh()), ...posted });
    assert.equal(body.status, 200, body.text);
    assert.equal((await tokenCall(service, odd, { ...(await refresh()), ...posted })).body.error, 'invalid_request');
    assert.equal(
      (await tokenCall(service, odd, { ...(await refresh()), client_id: application.id })).body.error,
      'invalid_request',
    );
    assert.equal((await tokenCall(service, odd, { ...(await refresh()), client_id: odd.id })).status, 200);
  });

  test('a rotated secret: the old one lives for its overlap, and each signs its own id_tokens', async () => {
    const rotating = await createApplication(service);
    const first = await tokensOf(service, rotating, person);
    const answer = await service.operator('POST', `/applications/${rotating.id}/secret`, { overlap_seconds: 60 });
    const renewed = credentials(rotating.id, answer.body.client_secret);
    for (const one of [rotating, renewed]) {
      const tokens = await refreshTokens(service, one, first.refresh_token);
      assert.equal(tokens.status, 200, tokens.text);
      const [header, payload, signature] = tokens.body.id_token.split('.');
      assert.equal(createHmac('sha256', one.secret).update(`${header}.${payload}`).digest('base64url'), signature);
    }
    await later(service, 61, async () => {
      assert.equal((await refreshTokens(service, rotating, first.refresh_token)).body.error, 'invalid_client');
      assert.equal((await refreshTokens(service, renewed, first.refresh_token)).status, 200);
    });
  });

  test('a former secret keeps its overlap when the next one is replaced too; at most ten; none after a rotation without', async () => {
    const rotating = await createApplication(service);
    const signedIn = await tokensOf(service, rotating, person);
    const rotate = (overlap: number) =>
      service.operator('POST', `/applications/${rotating.id}/secret`, { overlap_seconds: overlap });
    const rotated = async (overlap: number) => credentials(rotating.id, (await rotate(overlap)).body.client_secret);
    const works = async (...secrets: TestApplication[]) => {
      const answers: boolean[] = [];
      for (const one of secrets)
        answers.push((await refreshTokens(service, one, signedIn.refresh_token)).body.error !== 'invalid_client');
      return answers;
    };
    const second = await rotated(3_600);
    const third = await rotated(60);
    assert.deepEqual(await works(rotating, second, third), [true, true, true]);
    await later(service, 61, async () => {
      assert.deepEqual(await works(rotating, second, third), [true, false, true]);
    });
    for (let former = 2; former < 10; former += 1) await rotated(3_600);
    const refused = await rotate(3_600);
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_body'], refused.text);
    assert.match(refused.body.details, /^body\.overlap_seconds: 10 former secrets live already/);
    const last = await rotated(0);
    // Other processes learn within a second that a secret has ended.
    await until(async () => !(await works(rotating, third)).includes(true), { what: 'no former secret works' });
    assert.deepEqual(await works(last), [true]);
  });

  test('secrets that are made at once: one of them stays', async () => {
    const rotating = await createApplication(service);
    const made = await Promise.all(
      Array.from({ length: 6 }, () => service.operator('POST', `/applications/${rotating.id}/secret`)),
    );
    assert.ok(made.every(({ status }) => status === 201));
    const { rows } = await service.query('select from application_secrets where application_id = $1', [rotating.id]);
    assert.equal(rows.length, 1);
  });

  test('PKCE: the verifier must fit, and nonce comes back', async () => {
    const verifier = 'v'.repeat(43);
    const { createHash } = await import('node:crypto');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const visitor = new Visitor();
    const sign = async () => {
      const page = await visitor.get(
        authorizeUrl(service, application, { code_challenge: challenge, code_challenge_method: 'S256', nonce: 'n-1' }),
      );
      const answer = await visitor.submit(page, { email: person.email, password: PASSWORD });
      return answer.location?.searchParams.get('code') ?? '';
    };
    assert.equal((await exchange(service, application, await sign())).body.error, 'invalid_grant');
    assert.equal(
      (await exchange(service, application, await sign(), { code_verifier: 'w'.repeat(43) })).body.error,
      'invalid_grant',
    );
    const right = await exchange(service, application, await sign(), { code_verifier: verifier });
    assert.equal(right.status, 200);
    assert.equal(claimsOf(right.body.id_token).nonce, 'n-1');
  });

  test('an application can be made to use PKCE', async () => {
    const strict = await createApplication(service, { require_pkce: true });
    const answer = await new Visitor().get(authorizeUrl(service, strict));
    assert.equal(answer.location?.searchParams.get('error'), 'invalid_request');
    assert.equal((await signInHeadless(service, strict, person)).body.error, 'invalid_request');
  });
});

describe('what OpenID Connect clients look for', () => {
  test('discovery, twice the same', async () => {
    const one = await new Visitor().get(`${service.auth}/.well-known/openid-configuration`);
    const two = await new Visitor().get(`${service.auth}/.well-known/oauth-authorization-server`);
    assert.deepEqual(one.body, two.body);
    assert.equal(one.body.issuer, service.auth);
    assert.equal(one.body.token_endpoint, `${service.auth}/token`);
    for (const name of ['authorization_endpoint', 'userinfo_endpoint', 'end_session_endpoint', 'jwks_uri']) {
      assert.ok((await new Visitor().get(one.body[name])).status < 500, name);
    }
  });

  test('userinfo by GET and POST, and not without a token', async () => {
    const { access_token: token } = await tokensOf(service, application, person);
    for (const method of ['GET', 'POST']) {
      const answer = await new Visitor().request(`${service.auth}/userinfo`, {
        method,
        headers: { authorization: `Bearer ${token}`, accept: '*/*' },
      });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.sub, person.contactId);
      assert.equal(answer.body.email, person.email);
    }
    const none = await new Visitor().get(`${service.auth}/userinfo`);
    assert.equal(none.status, 401);
    assert.equal(none.body.error, 'invalid_token');
    assert.match(none.headers.get('www-authenticate') ?? '', /^Bearer /);
  });

  test('introspection tells an application of its own tokens only', async () => {
    const tokens = await tokensOf(service, application, person);
    const active = await tokenCall(service, application, { token: tokens.access_token }, '/introspect');
    assert.equal(active.body.active, true);
    assert.equal(active.body.sub, person.contactId);
    assert.equal(active.body.exp - active.body.iat, 3600);
    const refresh = await tokenCall(service, application, { token: tokens.refresh_token }, '/introspect');
    assert.equal(refresh.body.exp - refresh.body.iat, 28 * 86_400);
    const other = await createApplication(service);
    for (const token of [tokens.access_token, tokens.refresh_token, 'nonsense', tokens.id_token]) {
      assert.deepEqual((await tokenCall(service, other, { token }, '/introspect')).body, { active: false });
    }
    assert.equal((await new Visitor().post(`${service.auth}/introspect`, { token: tokens.access_token })).status, 401);
  });

  test('a revoked access token is refused, alone; a revoked refresh token takes its sign-in with it', async () => {
    const [tokens, before] = [
      await tokensOf(service, application, person),
      await tokensOf(service, application, person),
    ];
    const path = `/accounts/currency-accounts?client_id=${person.clientId}`;
    const answers = async (token: string, status: number) =>
      (await service.client(token, 'GET', path)).status === status;
    for (const one of [tokens, before]) assert.ok(await answers(one.access_token, 200));
    const other = await createApplication(service);
    assert.equal((await tokenCall(service, other, { token: tokens.access_token }, '/revoke')).status, 200);
    assert.equal((await tokenCall(service, application, { token: 'unknown' }, '/revoke')).status, 200);
    // Revocations arrive in their order: with this one, the two would be there.
    assert.equal((await tokenCall(service, application, { token: before.access_token }, '/revoke')).status, 200);
    await until(() => answers(before.access_token, 401));
    assert.ok(await answers(tokens.access_token, 200));
    assert.equal(
      (
        await tokenCall(
          service,
          application,
          { token: tokens.access_token, token_type_hint: 'access_token' },
          '/revoke',
        )
      ).status,
      200,
    );
    await until(() => answers(tokens.access_token, 401));
    const next = await refreshTokens(service, application, tokens.refresh_token);
    assert.equal(next.status, 200);
    assert.ok(await answers(next.body.access_token, 200));
    await tokenCall(service, application, { token: tokens.refresh_token }, '/revoke');
    assert.equal((await refreshTokens(service, application, next.body.refresh_token)).status, 400);
    await until(() => answers(next.body.access_token, 401));
  });

  test('what the operator changes reaches a token', async () => {
    const someone = await createPerson(service);
    const { access_token: token } = await tokensOf(service, application, someone);
    const path = `/accounts/currency-accounts?client_id=${someone.clientId}`;
    const status = async () => (await service.client(token, 'GET', path)).status;
    const seen = (wanted: number) => until(async () => (await status()) === wanted, { seen: status });
    assert.equal(await status(), 200);
    await service.operator('PATCH', `/clients/${someone.clientId}`, { status: 'disabled' });
    await seen(403);
    await service.operator('PATCH', `/clients/${someone.clientId}`, { status: 'enabled' });
    await seen(200);
    await service.operator('PATCH', `/contacts/${someone.contactId}`, { clients: [] });
    await seen(404);
    await service.operator('PATCH', `/contacts/${someone.contactId}`, { password: 'another password' });
    await seen(401);
  });
});

test('housekeeping deletes what can never be used again, and nothing else', async () => {
  const { deleteExpired } = await import('../../src/identity/tokens/housekeeping.ts');
  const { pool, clock } = service.service.context;
  const someone = await createPerson(service);
  const issued = [await tokensOf(service, application, someone)];
  for (let count = 0; count < 11; count += 1) {
    issued.push((await refreshTokens(service, application, issued.at(-1)?.refresh_token ?? '')).body);
  }
  const count = async (table: string) =>
    (await service.query(`select count(*)::int as n from ${table} where contact_id = $1`, [someone.contactId])).rows[0]
      .n;
  assert.equal(await count('refresh_tokens'), 12);
  await deleteExpired(pool, clock.now());
  assert.equal(await count('refresh_tokens'), 10);
  assert.equal(await count('access_tokens'), 12);
  assert.equal((await refreshTokens(service, application, issued[2]?.refresh_token ?? '')).status, 200);
  const inDays = (days: number) => new Date(clock.now().getTime() + days * 86_400_000);
  await deleteExpired(pool, inDays(20));
  assert.equal(await count('access_tokens'), 0);
  assert.equal(await count('refresh_tokens'), 10);
  await deleteExpired(pool, inDays(40));
  for (const table of ['refresh_tokens', 'grants', 'authorization_codes']) assert.equal(await count(table), 0, table);
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { cookieName } from '../../src/http/server/cookie.ts';
import { freePort } from '../world/ports.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import {
  cookieOf,
  createApplication,
  createPerson,
  exchange,
  PASSWORD,
  type Person,
  type Seen,
  signInHeadless,
  Visitor,
} from '../world/visitor.ts';

/** The sessions of the clients' pages: sign-in, calls, idle time, sign-out. */

let service: TestService;
before(async () => {
  service = await startTestService({ LOMBARD_SINGLE_SIGN_ON: 'yes' });
});
after(() => service.stop());

const PAGE = { 'x-lombard-page': '1' };
const advance = (seconds: number) => service.operator('PUT', '/clock', { advance_seconds: seconds });
const resetClock = () => service.operator('DELETE', '/clock');

/** The cookies of the sign-ins that a browser has begun. */
const begunSignIns = ({ cookies }: Visitor) =>
  [...cookies.keys()].filter((name) => name.startsWith(cookieOf(service, 'app-sign-in')));

/** Follows redirects, as a browser does. */
async function follow(visitor: Visitor, seen: Seen): Promise<Seen> {
  let at = seen;
  while (at.status === 302 && at.location) at = await visitor.get(at.location);
  return at;
}

/** Opens a page and signs in on the way. */
async function signIn(person: Person, path = '/app', visitor = new Visitor()) {
  const page = await follow(visitor, await visitor.get(service.api + path));
  assert.match(page.text, /name="password"/);
  const answer = await visitor.submit(page, { email: person.email, password: PASSWORD });
  return { visitor, callback: answer, page: await follow(visitor, answer) };
}

const send = (visitor: Visitor, method: string, path: string, headers: Record<string, string> = PAGE, body?: object) =>
  visitor.request(service.api + path, {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
const session = (visitor: Visitor) => send(visitor, 'GET', '/app/session', {});

describe('signing in', () => {
  test('by code and PKCE as lombard-app, back to the page that was asked for; no token in the browser', async () => {
    const person = await createPerson(service);
    const visitor = new Visitor();
    const asked = await visitor.get(`${service.api}/app/payments?status=pending&client_id=${person.clientId}`);
    assert.equal(asked.status, 302);
    assert.equal(asked.headers.get('cache-control'), 'no-store');
    const query = asked.location?.searchParams;
    assert.equal(asked.location?.origin, new URL(service.auth).origin);
    assert.equal(query?.get('client_id'), 'lombard-app');
    assert.equal(query?.get('redirect_uri'), `${service.api}/app/callback`);
    assert.equal(query?.get('code_challenge_method'), 'S256');
    const cookie = asked.headers.getSetCookie().find((line) => line.startsWith(`${cookieOf(service, 'app-sign-in')}-`));
    assert.match(cookie ?? '', /; HttpOnly; SameSite=Lax/);
    const verifier = cookie?.split('.')[1] ?? '';
    assert.equal(createHash('sha256').update(verifier).digest('base64url'), query?.get('code_challenge'));

    const page = await visitor.get(asked.location as URL);
    const answer = await visitor.submit(page, { email: person.email, password: PASSWORD });
    const back = await visitor.get(answer.location as URL);
    assert.equal(back.status, 302);
    assert.equal(back.location?.href, `${service.api}/app/payments?status=pending&client_id=${person.clientId}`);
    const [own = ''] = back.headers.getSetCookie();
    assert.match(own, /^lombard-\d+-app=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.deepEqual(begunSignIns(visitor), [], 'it is used up');

    const secret = visitor.cookies.get(cookieOf(service, 'app')) as string;
    for (const token of [secret, createHash('sha256').update(secret).digest('base64url')]) {
      const call = await service.client(token, 'GET', `/payments?client_id=${person.clientId}`);
      assert.equal(call.status, 401, 'the cookie is no token');
    }
    const { rows } = await service.query(
      `select (select count(*)::int from refresh_tokens r where r.contact_id = $1) as refresh, application_id from grants where contact_id = $1`,
      [person.contactId],
    );
    assert.deepEqual(rows, [{ refresh: 0, application_id: 'lombard-app' }]);
  });

  test('it pushes out no refresh token of another device', async () => {
    const person = await createPerson(service);
    const application = await createApplication(service);
    const { body } = await exchange(
      service,
      application,
      (await signInHeadless(service, application, person)).body.code,
    );
    for (let n = 0; n < 12; n += 1) await signIn(person);
    const refreshed = await new Visitor().post(
      `${service.auth}/token`,
      { grant_type: 'refresh_token', refresh_token: body.refresh_token, scope: 'openid' },
      { authorization: application.basic },
    );
    assert.equal(refreshed.status, 200, refreshed.text);
  });

  test('the application always exists, is in no list, and has neither headless sign-in nor tokens for others', async () => {
    const listed = await service.operator('GET', '/applications?page_size=1000');
    assert.ok(!JSON.stringify(listed.body).includes('lombard-app'));
    assert.equal(Number(listed.headers.get('x-total-count')), listed.body.length);
    const person = await createPerson(service);
    const headless = await new Visitor().post(
      `${service.auth}/authenticate`,
      { email: person.email, password: PASSWORD, client_id: 'lombard-app', state: 'x' },
      { 'no-redirect': 'application/json', accept: '*/*' },
    );
    assert.equal(headless.status, 400);
    assert.equal(headless.body.error, 'unauthorized_client');
    const taken = await new Visitor().post(`${service.auth}/token`, {
      grant_type: 'authorization_code',
      code: 'x',
      redirect_uri: `${service.api}/app/callback`,
      client_id: 'lombard-app',
      code_verifier: 'y'.repeat(43),
    });
    assert.equal(taken.status, 401, taken.text);
  });

  test('a code that another browser asked for signs nobody in; a used one neither', async () => {
    const person = await createPerson(service);
    const theirs = new Visitor();
    const page = await follow(theirs, await theirs.get(`${service.api}/app`));
    const { location } = await theirs.submit(page, { email: person.email, password: PASSWORD });
    const victim = new Visitor();
    const forced = await victim.get(location as URL);
    assert.equal(forced.status, 400);
    assert.match(forced.text, /role="alert"/);
    await victim.get(`${service.api}/app`);
    assert.equal((await victim.get(location as URL)).status, 400, 'its own state does not fit');
    assert.equal(victim.cookies.get(cookieOf(service, 'app')), undefined);
    assert.equal((await theirs.get(location as URL)).status, 302);
    assert.equal((await theirs.get(location as URL)).status, 400);
  });

  test('tabs that sign in at the same time all get back to their page; a browser keeps a few sign-ins at most', async () => {
    const person = await createPerson(service);
    const visitor = new Visitor();
    const paths = ['/app/payments', '/app/approvals', '/app/accounts'];
    const tabs: Seen[] = [];
    for (const path of paths) tabs.push(await follow(visitor, await visitor.get(service.api + path)));
    for (const [n, page] of tabs.entries()) {
      const answer = await visitor.submit(page, { email: person.email, password: PASSWORD });
      const back = await visitor.get(answer.location as URL);
      assert.equal(back.location?.href, service.api + paths[n]);
    }
    assert.deepEqual([(await session(visitor)).status, begunSignIns(visitor)], [200, []]);
    const another = new Visitor();
    let newest: Seen | undefined;
    for (let n = 0; n < 10; n += 1) newest = await follow(another, await another.get(`${service.api}/app`));
    assert.equal(begunSignIns(another).length, 4);
    const answer = await another.submit(newest as Seen, { email: person.email, password: PASSWORD });
    assert.equal((await another.get(answer.location as URL)).status, 302);
  });

  test('the way back leads to pages only', async () => {
    const person = await createPerson(service);
    for (const place of [
      '//evil.example',
      'https://evil.example/app',
      '/app\\..\\',
      '/payments',
      '/application',
      '/app/callback?x',
    ]) {
      const visitor = new Visitor();
      const page = await follow(visitor, await visitor.get(`${service.api}/app`));
      const [name = ''] = begunSignIns(visitor);
      const [state, verifier] = (visitor.cookies.get(name) as string).split('.');
      visitor.cookies.set(name, `${state}.${verifier}.${Buffer.from(place).toString('base64url')}`);
      const { location } = await visitor.submit(page, { email: person.email, password: PASSWORD });
      const back = await visitor.get(location as URL);
      assert.equal(back.location?.href, `${service.api}/app`, place);
    }
  });
});

describe('calls of the pages', () => {
  test('the client API under /app/api, as the person and lombard-app', async () => {
    const person = await createPerson(service);
    const { visitor } = await signIn(person);
    const found = await send(visitor, 'GET', `/app/api/payments?client_id=${person.clientId}`, {});
    assert.equal(found.status, 200, found.text);
    assert.equal(found.headers.get('x-total-count'), '0');
    assert.equal(found.headers.get('cache-control'), 'no-store');
    const other = await createPerson(service);
    assert.equal((await send(visitor, 'GET', `/app/api/payments?client_id=${other.clientId}`, {})).status, 404);
    const log = await send(visitor, 'GET', `/app/api/sandbox/requests?client_id=${person.clientId}`, {});
    if (log.body.length > 0) assert.equal(log.body[0].application, 'lombard-app');
  });

  test('a change needs X-Lombard-Page, and the pages’ own origin', async () => {
    const person = await createPerson(service);
    const { visitor } = await signIn(person);
    const change = `/app/api/sandbox/trigger?client_id=${person.clientId}`;
    const event = { event: 'CREDIT_TRANSACTION' };
    for (const headers of [
      {},
      { 'x-lombard-page': '0' },
      { ...PAGE, origin: 'https://evil.example' },
      { ...PAGE, origin: 'null' },
      { ...PAGE, 'sec-fetch-site': 'cross-site' },
      { ...PAGE, 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      for (const [method, path, body] of [
        ['POST', change, event],
        ['POST', '/app/session/activity', undefined],
        ['DELETE', '/app/session', undefined],
      ] as const) {
        const refused = await send(visitor, method, path, headers, body);
        assert.equal(refused.status, 403, `${method} ${path} ${JSON.stringify(headers)}: ${refused.text}`);
        assert.equal(refused.body.code, 'permission_denied');
      }
    }
    const own = { ...PAGE, origin: new URL(service.api).origin, 'sec-fetch-site': 'same-origin' };
    const done = await send(visitor, 'POST', change, own, event);
    assert.equal(done.status, 201, done.text);
    assert.equal((await send(visitor, 'GET', '/app/session', { 'sec-fetch-site': 'cross-site' })).status, 403);
  });

  test('without a session: 302 for pages, 401 and no-store for data; a bearer token is none', async () => {
    const person = await createPerson(service);
    for (const path of ['/app', '/app/payments/PAY1', '/app/unknown'])
      assert.equal((await new Visitor().get(service.api + path)).status, 302, path);
    const named = await new Visitor().get(
      `${service.api.replace('127.0.0.1', 'localhost')}/app/payments?status=pending`,
    );
    assert.equal(named.location?.href, `${service.api}/app/payments?status=pending`, 'another name of this machine');
    for (const path of ['/app/session', '/app/sessions', `/app/api/payments?client_id=${person.clientId}`]) {
      const refused = await send(new Visitor(), 'GET', path, {});
      assert.equal(refused.status, 401, path);
      assert.equal(refused.body.code, 'authentication_failed');
      assert.equal(refused.headers.get('cache-control'), 'no-store');
    }
    const token = await service.signIn(person.email, PASSWORD);
    const bearer = await service.client(token, 'GET', `/app/api/payments?client_id=${person.clientId}`);
    assert.equal(bearer.status, 401);
  });

  test('the pages: a policy without unsafe, no frame, no cache; 404 designed', async () => {
    const person = await createPerson(service, { name: '<script>alert(1)</script>' });
    const { visitor, page } = await signIn(person);
    assert.equal(page.status, 200);
    assert.ok(!page.text.includes('<script>alert'), page.text);
    const missing = await visitor.get(`${service.api}/app/unknown`);
    assert.equal(missing.status, 404);
    assert.match(missing.text, /<h1>This page does not exist<\/h1>/);
    const slash = await visitor.get(`${service.api}/app/?client_id=${person.clientId}`);
    assert.equal(slash.location?.href, `${service.api}/app?client_id=${person.clientId}`);
    for (const each of [page, missing]) {
      const policy = each.headers.get('content-security-policy') ?? '';
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe/);
      assert.equal(each.headers.get('cache-control'), 'no-store');
    }
  });

  test('a page that was drawn for somebody else is refused, so that nobody acts as whoever signed in in another tab', async () => {
    const [ann, bob] = [await createPerson(service), await createPerson(service)];
    const { visitor } = await signIn(ann);
    const shown = { ...PAGE, 'x-lombard-person': (await session(visitor)).body.person };
    const language = () => send(visitor, 'PATCH', '/app/profile', shown, { language: 'fr' });
    assert.equal((await language()).status, 200);
    await send(visitor, 'DELETE', '/app/session');
    await signIn(bob, '/app', visitor);
    for (const refused of [
      await language(),
      await send(visitor, 'GET', `/app/api/payments?client_id=${bob.clientId}`, shown),
      await send(visitor, 'GET', `/app/data/home?client_id=${bob.clientId}`, shown),
      await send(visitor, 'POST', '/app/session/activity', shown),
    ]) {
      assert.deepEqual([refused.status, refused.body.code], [401, 'authentication_failed']);
      assert.match(refused.body.details, /^header\.X-Lombard-Person/);
    }
    assert.equal((await session(visitor)).body.language, null);
  });

  test('who lost a client, or is disabled, loses it on the open page', async () => {
    const person = await createPerson(service);
    const { visitor } = await signIn(person);
    const path = `/app/api/payments?client_id=${person.clientId}`;
    assert.equal((await send(visitor, 'GET', path, {})).status, 200);
    await service.operator('PATCH', `/contacts/${person.contactId}`, { status: 'disabled' });
    await until(async () => (await send(visitor, 'GET', path, {})).status === 401);
  });
});

describe('how long a session lasts', () => {
  test('15 minutes without activity; polling is none, keys and navigation are', async () => {
    const person = await createPerson(service);
    const { visitor } = await signIn(person);
    await advance(600);
    assert.equal((await session(visitor)).status, 200);
    await advance(310);
    assert.equal((await session(visitor)).status, 401, 'the poll did not keep it');

    const second = (await signIn(person)).visitor;
    await advance(600);
    assert.equal((await send(second, 'POST', '/app/session/activity')).status, 204);
    await advance(600);
    assert.equal((await second.get(`${service.api}/app`)).status, 200);
    await advance(600);
    const left = await session(second);
    assert.equal(left.status, 200);
    assert.ok(Date.parse(left.body.idle_at) > Date.parse(left.body.now));
    await resetClock();
  });

  test('12 hours at most', async () => {
    const person = await createPerson(service);
    const { visitor } = await signIn(person);
    for (let quarter = 0; quarter < 53; quarter += 1) {
      await advance(810);
      assert.equal((await send(visitor, 'POST', '/app/session/activity')).status, 204, String(quarter));
    }
    await advance(500);
    assert.equal((await session(visitor)).status, 401);
    await resetClock();
  });
});

describe('signing out', () => {
  test('ends this session, its token and the authorization server’s session, and no other', async () => {
    const person = await createPerson(service);
    const [one, two] = [(await signIn(person)).visitor, (await signIn(person)).visitor];
    const before = new Map(one.cookies);
    assert.equal((await send(one, 'DELETE', '/app/session')).status, 204);
    assert.ok(!one.cookies.has(cookieOf(service, 'app')));
    for (const [name, value] of before) one.cookies.set(name, value);
    assert.equal((await session(one)).status, 401, 'the old cookie is worth nothing');
    const again = await follow(one, await one.get(`${service.api}/app`));
    assert.match(again.text, /name="password"/, 'it asks for the password again');
    assert.equal((await session(two)).status, 200);
    const { rows } = await service.query('select from grants where contact_id = $1 and revoked_at is null', [
      person.contactId,
    ]);
    assert.equal(rows.length, 1);
  });

  test('everywhere: pages, tokens and the authorization server’s sessions', async () => {
    const person = await createPerson(service);
    const token = await service.signIn(person.email, PASSWORD);
    const [one, two] = [(await signIn(person)).visitor, (await signIn(person)).visitor];
    assert.equal((await send(one, 'DELETE', '/app/sessions')).status, 204);
    assert.equal((await session(two)).status, 401);
    const path = `/payments?client_id=${person.clientId}`;
    await until(async () => (await service.client(token, 'GET', path)).status === 401);
  });

  test('one of the person’s sessions; nobody else’s', async () => {
    const person = await createPerson(service);
    const [one, two] = [(await signIn(person)).visitor, (await signIn(person)).visitor];
    const listed = (await send(one, 'GET', '/app/sessions', {})).body;
    assert.equal(listed.length, 2);
    assert.equal(listed.filter((each: { current: boolean }) => each.current).length, 1);
    const other = listed.find((each: { current: boolean }) => !each.current).id;
    const stranger = (await signIn(await createPerson(service))).visitor;
    assert.equal((await send(stranger, 'DELETE', `/app/sessions/${other}`)).status, 404);
    assert.equal((await send(one, 'DELETE', '/app/sessions/unknown')).status, 404);
    assert.equal((await send(one, 'DELETE', `/app/sessions/${other}`)).status, 204);
    assert.equal((await session(two)).status, 401);
    assert.equal((await session(one)).status, 200);
  });
});

describe('the profile', () => {
  test('language and mails', async () => {
    const { visitor } = await signIn(await createPerson(service));
    const changed = await send(visitor, 'PATCH', '/app/profile', PAGE, { language: 'de', approval_mails: false });
    assert.equal(changed.status, 200, changed.text);
    assert.equal(changed.body.language, 'de');
    assert.equal(changed.body.approval_mails, false);
    assert.match((await visitor.get(`${service.api}/app`)).text, /<html lang="de">/);
    const wrong = await send(visitor, 'PATCH', '/app/profile', PAGE, { language: 'it' });
    assert.equal(wrong.status, 400);
    assert.match(wrong.body.details, /^body\.language: /);
  });

  test('a new password keeps this session and ends the others and every refresh token', async () => {
    const person = await createPerson(service);
    const application = await createApplication(service);
    const { body } = await exchange(
      service,
      application,
      (await signInHeadless(service, application, person)).body.code,
    );
    const [one, two] = [(await signIn(person)).visitor, (await signIn(person)).visitor];
    const change = (current: string, next: string) =>
      send(one, 'POST', '/app/profile/password', PAGE, { current_password: current, new_password: next });
    const wrong = await change('not the password', 'a new password');
    assert.equal(wrong.status, 400);
    assert.match(wrong.body.details, /^body\.current_password: /);
    assert.equal((await change(PASSWORD, 'a new password')).status, 204);
    assert.equal((await session(one)).status, 200);
    assert.equal((await send(one, 'GET', `/app/api/payments?client_id=${person.clientId}`, {})).status, 200);
    assert.equal((await session(two)).status, 401);
    const refreshed = await new Visitor().post(
      `${service.auth}/token`,
      { grant_type: 'refresh_token', refresh_token: body.refresh_token, scope: 'openid' },
      { authorization: application.basic },
    );
    assert.equal(refreshed.body.error, 'invalid_grant');
  });
});

test('two installations on one host sign nobody out of the other', async (t) => {
  const other = await startTestService();
  t.after(() => other.stop());
  const person = await createPerson(service);
  const { visitor } = await signIn(person);
  const page = await follow(visitor, await visitor.get(`${other.api}/app`));
  assert.match(page.text, /name="password"/);
  const there = await createPerson(other);
  await follow(visitor, await visitor.submit(page, { email: there.email, password: PASSWORD }));
  const sessionAt = (api: string) => visitor.get(`${api}/app/session`);
  assert.deepEqual([(await sessionAt(service.api)).status, (await sessionAt(other.api)).status], [200, 200]);
  assert.equal((await visitor.request(`${other.api}/app/session`, { method: 'DELETE', headers: PAGE })).status, 204);
  assert.deepEqual([(await sessionAt(service.api)).status, (await sessionAt(other.api)).status], [200, 401]);
  assert.equal((await follow(visitor, await visitor.get(`${service.api}/app/payments`))).status, 200);
});

test('the name of a cookie has the port and the path of its address, and no more', () => {
  for (const [address, name] of [
    ['http://127.0.0.1:8080', 'lombard-8080-app'],
    ['http://api.bank.example', 'lombard-app'],
    ['https://bank.example', '__Host-lombard-app'],
    ['https://bank.example:8443/one/api', '__Host-lombard-8443-one-api-app'],
    ['https://bank.example/a;b=c', '__Host-lombard-a_b_c-app'],
  ] as const)
    assert.equal(cookieName({ name: 'app', address }), name);
});

test('under https the cookies have __Host- and Secure', async (t) => {
  const port = await freePort();
  const secure = await startTestService({
    LOMBARD_API_PORT: String(port),
    LOMBARD_API_URL: 'https://api.bank.example',
    LOMBARD_AUTH_URL: 'https://auth.bank.example',
  });
  t.after(() => secure.stop());
  const answer = await fetch(`http://127.0.0.1:${port}/app`, { redirect: 'manual' });
  assert.equal(answer.status, 302);
  assert.ok(answer.headers.get('location')?.startsWith('https://auth.bank.example/authenticate?'));
  assert.match(
    answer.headers.get('set-cookie') ?? '',
    /^__Host-lombard-app-sign-in-[A-Za-z0-9_-]{12}=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=900$/,
  );
});

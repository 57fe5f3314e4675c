import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from '../world/service.ts';
import {
  authorizeUrl,
  CALLBACK,
  cookieOf,
  createApplication,
  createPerson,
  exchange,
  later,
  PASSWORD,
  type Person,
  type TestApplication,
  tokensOf,
  Visitor,
} from '../world/visitor.ts';

const GOODBYE = 'https://app.example.com/goodbye?from=lombard';

let service: TestService;
let application: TestApplication;
let second: TestApplication;
let person: Person;

before(async () => {
  service = await startTestService({ LOMBARD_SINGLE_SIGN_ON: 'yes' });
  application = await createApplication(service, { post_logout_redirect_uris: [GOODBYE] });
  second = await createApplication(service, { name: 'Second' });
  person = await createPerson(service);
});
after(() => service.stop());

async function signedIn(): Promise<{ visitor: Visitor; idToken: string }> {
  const visitor = new Visitor();
  const answer = await visitor.submit(await visitor.get(authorizeUrl(service, application)), {
    email: person.email,
    password: PASSWORD,
  });
  const tokens = await exchange(service, application, answer.location?.searchParams.get('code') ?? '');
  return { visitor, idToken: tokens.body.id_token };
}

test('a second application needs no second password', async () => {
  const { visitor } = await signedIn();
  const answer = await visitor.get(authorizeUrl(service, second, { state: 'other' }));
  assert.equal(answer.status, 302, answer.text);
  assert.equal(`${answer.location?.origin}${answer.location?.pathname}`, CALLBACK);
  assert.equal(answer.location?.searchParams.get('state'), 'other');
  const tokens = await exchange(service, second, answer.location?.searchParams.get('code') ?? '');
  assert.equal(tokens.status, 200);
  assert.equal(
    (await visitor.get(authorizeUrl(service, second, { prompt: 'none' }))).location?.searchParams.get('error'),
    null,
  );
});

test('prompt=login and an old sign-in ask again; prompt=none says login_required', async () => {
  const { visitor } = await signedIn();
  assert.equal((await visitor.get(authorizeUrl(service, second, { prompt: 'login' }))).status, 200);
  await later(service, 120, async () => {
    assert.equal((await visitor.get(authorizeUrl(service, second, { max_age: '60' }))).status, 200);
    assert.equal((await visitor.get(authorizeUrl(service, second, { max_age: '600' }))).status, 302);
    const refused = await visitor.get(authorizeUrl(service, second, { max_age: '60', prompt: 'none' }));
    assert.equal(refused.location?.searchParams.get('error'), 'login_required');
  });
  await later(service, 8 * 3_600, async () => {
    assert.equal((await visitor.get(authorizeUrl(service, second))).status, 200, 'a session ends after eight hours');
  });
});

test('without the setting every application asks', async () => {
  const plain = await startTestService();
  try {
    const app = await createApplication(plain);
    const someone = await createPerson(plain);
    const visitor = new Visitor();
    await visitor.submit(await visitor.get(authorizeUrl(plain, app)), { email: someone.email, password: PASSWORD });
    assert.equal((await visitor.get(authorizeUrl(plain, app))).status, 200);
    assert.deepEqual([...visitor.cookies.keys()], [cookieOf(plain, 'browser')]);
  } finally {
    await plain.stop();
  }
});

test('signing out with the id_token goes on to the registered address, and the session is over', async () => {
  const { visitor, idToken } = await signedIn();
  const stolen = visitor.cookies.get(cookieOf(service, 'session')) ?? '';
  const address = `${service.auth}/end-session?${new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: GOODBYE, state: 'x&y' })}`;
  const answer = await visitor.get(address);
  assert.equal(answer.status, 302, answer.text);
  assert.equal(answer.location?.href, `${GOODBYE}&state=x%26y`);
  assert.equal(visitor.cookies.has(cookieOf(service, 'session')), false);
  visitor.cookies.set(cookieOf(service, 'session'), stolen);
  assert.equal((await visitor.get(authorizeUrl(service, second))).status, 200, 'the old cookie is worth nothing');
});

test('without a proof of who asks, the browser is asked first', async () => {
  const { visitor } = await signedIn();
  const address = `${service.auth}/end-session?${new URLSearchParams({ client_id: application.id, post_logout_redirect_uri: GOODBYE })}`;
  const page = await visitor.get(address);
  assert.equal(page.status, 200);
  assert.equal((await visitor.get(authorizeUrl(service, second))).status, 302, 'still signed in');
  const done = await visitor.submit(page, {});
  assert.equal(done.status, 302);
  assert.equal(done.location?.href, GOODBYE);
  assert.equal((await visitor.get(authorizeUrl(service, second))).status, 200);
});

test('an id_token of somebody else, or a forged one, does not spare the question', async () => {
  const { visitor } = await signedIn();
  const stranger = await tokensOf(service, application, await createPerson(service));
  for (const hint of [stranger.id_token, `${stranger.id_token.slice(0, -3)}abc`, 'a.b.c', '..', 'x']) {
    const answer = await visitor.get(
      `${service.auth}/end-session?${new URLSearchParams({ id_token_hint: hint, client_id: application.id })}`,
    );
    assert.equal(answer.status, 200);
    assert.match(answer.text, /name="confirmed"/, hint);
  }
});

test('no address that is not registered to the letter, signed in or not', async () => {
  const { visitor, idToken } = await signedIn();
  for (const target of [
    'https://evil.example/',
    `${GOODBYE}x`,
    GOODBYE.toUpperCase(),
    '//evil.example',
    'javascript:alert(1)',
    `${GOODBYE}#x`,
  ]) {
    for (const who of [visitor, new Visitor()]) {
      const answer = await who.get(
        `${service.auth}/end-session?${new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: target })}`,
      );
      assert.equal(answer.status, 400, target);
      assert.equal(answer.location, undefined);
    }
  }
  const nobody = await visitor.get(
    `${service.auth}/end-session?${new URLSearchParams({ post_logout_redirect_uri: GOODBYE })}`,
  );
  assert.equal(nobody.status, 400);
});

test('a contact who has changed the password, or is disabled, is signed in nowhere', async () => {
  const someone = await createPerson(service);
  const visitor = new Visitor();
  await visitor.submit(await visitor.get(authorizeUrl(service, application)), {
    email: someone.email,
    password: PASSWORD,
  });
  assert.equal((await visitor.get(authorizeUrl(service, second))).status, 302);
  await service.operator('PATCH', `/contacts/${someone.contactId}`, { password: 'another good password' });
  assert.equal((await visitor.get(authorizeUrl(service, second))).status, 200);
});

test('a forged id_token names no application: it sends nobody to a registered address', async () => {
  const { visitor, idToken } = await signedIn();
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [, payload] = idToken.split('.');
  for (const hint of [`${part({ alg: 'none' })}.${payload}.`, `${part({ alg: 'none' })}.${payload}.x`]) {
    const parameters = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: GOODBYE });
    const answer = await visitor.get(`${service.auth}/end-session?${parameters}`);
    assert.equal(answer.status, 400, answer.text);
  }
});

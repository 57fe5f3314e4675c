import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createWorld } from '../world/client.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import {
  authorizeUrl,
  CALLBACK,
  createApplication,
  createPerson,
  exchange,
  signInHeadless,
  Visitor,
} from '../world/visitor.ts';

/** Refusals that say what to do instead, or who does it. */

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let token: string;
before(async () => {
  service = await startTestService();
  world = await createWorld(service);
  token = await world.signIn();
});
after(() => service.stop());

describe('redirect addresses: what was received is shown', () => {
  const wrong = 'https://app.example.com/callback/';

  test('on the page, in the form of a headless sign-in, at the token endpoint and at the end of a session', async () => {
    const application = await createApplication(service, {
      post_logout_redirect_uris: ['https://app.example.com/bye'],
    });
    const page = await new Visitor().get(authorizeUrl(service, application, { redirect_uri: `${wrong}?<b>"` }));
    assert.equal(page.status, 400);
    assert.ok(page.text.includes('https://app.example.com/callback/?&lt;b&gt;'), page.text);
    const person = await createPerson(service);
    const headless = await new Visitor().post(
      `${service.auth}/authenticate`,
      { email: person.email, password: 'x', client_id: application.id, state: 's', redirect_uri: wrong },
      { 'no-redirect': 'application/json', accept: '*/*' },
    );
    assert.ok(headless.body.error_description.endsWith(`received '${wrong}'`), headless.text);
    const { body } = await signInHeadless(service, application, person);
    const exchanged = await new Visitor().post(
      `${service.auth}/token`,
      { grant_type: 'authorization_code', code: body.code, redirect_uri: wrong },
      { authorization: application.basic, accept: '*/*' },
    );
    assert.ok(exchanged.body.error_description.endsWith(`received '${wrong}'`), exchanged.text);
    assert.equal((await exchange(service, application, body.code)).status, 200, CALLBACK);
    const out = await new Visitor().get(
      `${service.auth}/end-session?client_id=${application.id}&post_logout_redirect_uri=${encodeURIComponent(wrong)}`,
    );
    assert.equal(out.status, 400);
    assert.ok(out.text.includes(wrong), out.text);
  });

  test('a long one is cut', async () => {
    const application = await createApplication(service);
    const page = await new Visitor().get(
      authorizeUrl(service, application, { redirect_uri: `${wrong}${'x'.repeat(1_000)}` }),
    );
    assert.ok(page.text.includes(`${'x'.repeat(100)}...`) && !page.text.includes('x'.repeat(201)));
  });
});

test('who creates what clients only read', async () => {
  for (const [noun, status] of [
    ['currency-accounts', 404],
    ['accounts', 405],
    ['transactions', 405],
  ] as const) {
    const answer = await service.client(token, 'POST', `/${noun}?client_id=${world.clientId}`, { body: {} });
    assert.equal(answer.status, status, noun);
    assert.match(answer.body.details, new RegExp(`the institution creates .*POST /${noun} there`));
  }
  assert.doesNotMatch((await service.client(token, 'POST', '/nothing')).body.details, /institution/);
});

test('an action belongs into the query of the client API, and into the body of the operator interface', async () => {
  const { body: payment } = await world.pay();
  const path = `/payments/${payment.payment_id}`;
  for (const [query, body, details] of [
    ['', { action: 'authorise' }, 'query.action: is required as a query parameter, not in the body'],
    ['', undefined, /^query\.action: is required/],
    ['&action=approve', undefined, /^query\.action: must be/],
  ] as const) {
    const answer = await service.client(token, 'PATCH', `${path}?client_id=${world.clientId}${query}`, { body });
    assert.equal(answer.status, 400, answer.text);
    if (typeof details === 'string') assert.equal(answer.body.details, details);
    else assert.match(answer.body.details, details);
  }
  const answer = await service.operator('POST', `${path}/actions?action=cancel`, {});
  assert.deepEqual(
    [answer.status, answer.body.details],
    [400, 'body.action: is required in the body, not as a query parameter'],
  );
});

test('a token without the scope, or without a life, is not called a contact', async () => {
  const { body } = await service.operator('POST', '/operator-tokens', { name: randomUUID(), scopes: ['read'] });
  const refused = await service.operator('POST', '/clients', { client_name: 'x' }, { token: body.token });
  assert.deepEqual(refused.body, {
    code: 'permission_denied',
    message: 'The contact or token may not do this',
    details: 'token: needs the scope feed',
  });
  const unknown = await service.operator('GET', '/clients', undefined, { token: 'x' });
  assert.equal(unknown.body.message, 'The token is missing, malformed, unknown or revoked');
});

test('the address in links.self of an onboarding notification answers its client, and nobody else', async () => {
  const event = { client_id: world.clientId, onboarding_status: 'In review', account_number: '77' };
  for (const more of [{}, { id: 'an onboarding/1', type: 'application' }]) {
    const recorded = await service.operator('POST', '/onboarding-events', { ...event, ...more });
    assert.equal(recorded.status, 201, recorded.text);
    const { self } = recorded.body.links;
    assert.ok(self.startsWith(`${service.api}/onboarding-events/`), self);
    const read = () => service.client(token, 'GET', self.slice(service.api.length));
    assert.deepEqual((await read()).body, recorded.body);
    const later = await service.operator('POST', '/onboarding-events', {
      ...event,
      ...more,
      onboarding_status: 'Active',
    });
    assert.deepEqual((await read()).body, later.body);
  }
  const other = await createWorld(service, 'Somebody else');
  const theirs = await other.signIn();
  for (const [bearer, path, status, code] of [
    [theirs, `/onboarding-events/${world.clientId}?client_id=${other.clientId}`, 404, 'onboarding_event_not_found'],
    [theirs, `/onboarding-events/${world.clientId}?client_id=${world.clientId}`, 404, 'client_not_found'],
    [token, `/onboarding-events/${world.clientId}`, 400, 'missing_parameter'],
    ['none', `/onboarding-events/${world.clientId}?client_id=${world.clientId}`, 401, 'authentication_failed'],
  ] as const) {
    const answer = await service.client(bearer, 'GET', path);
    assert.deepEqual([answer.status, answer.body.code], [status, code], path);
  }
});

test('nothing that is personal or refused is kept by a cache, on any listener', async () => {
  const { body: payment } = await world.pay();
  const client = `client_id=${world.clientId}`;
  const operator = service.operatorToken;
  for (const [url, bearer] of [
    [`${service.api}/payments?${client}`, token],
    [`${service.api}/payments/${payment.payment_id}?${client}`, token],
    [`${service.api}/documents?type=pi&id=${payment.payment_id}&${client}`, token],
    [`${service.api}/payments?${client}&page=0`, token],
    [`${service.api}/payments?${client}`, 'none'],
    [`${service.api}/nothing`, token],
    [`${service.api}/payments/%zz`, token],
    [`${service.auth}/userinfo`, token],
    [`${service.auth}/userinfo`, 'none'],
    [`${service.auth}/nothing`, 'none'],
    [`${service.operatorUrl}/clients/${world.clientId}`, operator],
    [`${service.operatorUrl}/mailbox`, operator],
    [`${service.operatorUrl}/sign-ins`, operator],
    [`${service.operatorUrl}/requests`, 'none'],
  ] as const) {
    const { headers } = await call(url, 'GET', { token: bearer });
    assert.deepEqual(
      [headers.get('cache-control'), headers.get('x-content-type-options')],
      ['no-store', 'nosniff'],
      url,
    );
  }
});

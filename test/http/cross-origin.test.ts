import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildSchema } from 'graphql';
import { call, startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
  const application = {
    client_id: 'page',
    name: 'Page',
    redirect_uris: ['https://treasury.example:8443/callback?a=b'],
  };
  assert.equal((await service.operator('POST', '/applications', application)).status, 201);
});
after(() => service.stop());

const ORIGIN = 'https://treasury.example:8443';
const preflight = (url: string, origin: string) =>
  call(url, 'OPTIONS', {
    headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
  });

test('pages of a registered redirect address may call, without cookies', async () => {
  for (const url of [`${service.api}/payments?client_id=C`, `${service.auth}/token`]) {
    const asked = await preflight(url, ORIGIN);
    assert.equal(asked.status, 204, url);
    assert.equal(asked.headers.get('access-control-allow-origin'), ORIGIN);
    assert.match(asked.headers.get('access-control-allow-headers') ?? '', /Authorization/);
    assert.equal(asked.headers.get('access-control-allow-credentials'), null);
  }
  const refused = await call(`${service.api}/payments?client_id=C`, 'GET', { headers: { origin: ORIGIN } });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get('access-control-allow-origin'), ORIGIN);
  assert.match(refused.headers.get('vary') ?? '', /Origin/);
  const exposed = (refused.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(', ');
  for (const name of [
    'x-total-count',
    'x-request-id',
    'retry-after',
    'location',
    'x-configuration-version',
    'ratelimit',
    'idempotency-replayed',
  ])
    assert.ok(exposed.includes(name), name);
});

test("the service's own pages may call each other", async () => {
  for (const origin of [service.api, service.auth])
    assert.equal((await preflight(`${service.auth}/token`, origin)).headers.get('access-control-allow-origin'), origin);
});

test('pages of other origins may not', async () => {
  for (const origin of ['https://treasury.example', 'http://treasury.example:8443', 'https://evil.example', 'null']) {
    const asked = await preflight(`${service.api}/payments?client_id=C`, origin);
    assert.equal(asked.headers.get('access-control-allow-origin'), null, origin);
  }
});

test('the GraphQL schema is read without a token', async () => {
  const answer = await call(`${service.api}/webhooks/graphql/schema.graphql`, 'GET');
  assert.equal(answer.status, 200);
  const schema = buildSchema(answer.text);
  assert.ok(schema.getMutationType()?.getFields().createSubscription);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ordersWorld } from '../world/orders.ts';
import { call, startTestService, type TestService } from '../world/service.ts';

/** What a refusal names: the media types that an operation takes, and the record that no identifier of any length finds. */

let service: TestService;
let world: Awaited<ReturnType<typeof ordersWorld>>;

before(async () => {
  service = await startTestService();
  world = await ordersWorld(service);
});
after(() => service.stop());

const send = (method: string, path: string, type: string) =>
  call(`${service.api}${path}?client_id=${world.clientId}`, method, {
    ...{ token: world.token, raw: '{}', headers: { 'content-type': type } },
  });

test('a body of another type is refused with the types that the operation takes, which its description has', async () => {
  const { body: document } = await call(`${service.api}/openapi.json`, 'GET');
  const taken: [string, string, string[]][] = [
    ['POST', '/payment-initiations', ['application/xml', 'text/xml']],
    ['POST', '/mass-payments', ['application/json', 'text/csv']],
    ['POST', '/mass-beneficiaries', ['application/json', 'text/csv']],
    ['POST', '/payments', ['application/json']],
  ];
  for (const [method, path, types] of taken) {
    const answer = await send(method, path, 'text/plain');
    const details = `header.Content-Type: must be ${types.join(' or ')}, not text/plain`;
    assert.deepEqual([answer.status, answer.body.code, answer.body.details], [415, 'unsupported_media_type', details]);
    assert.deepEqual(Object.keys(document.paths[path].post.requestBody.content), types, path);
  }
});

test('an identifier of any length names no record, and is looked at after the token', async () => {
  const long = 'x'.repeat(6_000);
  for (const [path, code] of [
    [`/payments/${long}`, 'payment_not_found'],
    [`/trades/${long}/funds`, 'trade_not_found'],
    [`/accounts/${long}`, 'account_not_found'],
    [`/accounts/${long}/balances`, 'currency_account_not_found'],
    [`/payment-initiations/${encodeURIComponent('\u{1f600}'.repeat(35))}/status`, 'payment_initiation_not_found'],
  ]) {
    const answer = await world.ask('GET', path as string);
    assert.deepEqual([answer.status, answer.body.code], [404, code], answer.text);
    assert.equal((await call(`${service.api}${path}`, 'GET')).status, 401, path);
  }
  const operator = await service.operator('GET', `/payments/${long}`);
  assert.deepEqual([operator.status, operator.body.code], [404, 'payment_not_found'], operator.text);
});

test('an address that cannot be decoded says how it must be written', async () => {
  const answer = await world.ask('GET', '/payments/%ff');
  assert.deepEqual([answer.status, answer.body.details], [404, 'path: must be percent-encoded UTF-8']);
});

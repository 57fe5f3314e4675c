import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ordersWorld } from '../world/orders.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

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

test('the address of a kind of import can only be sent lines', async () => {
  const answer = await service.operator('GET', '/imports/payments');
  assert.deepEqual([answer.status, answer.body.code, answer.headers.get('allow')], [405, 'method_not_allowed', 'POST']);
});

test('an address that cannot be decoded says how it must be written', async () => {
  const answer = await world.ask('GET', '/payments/%ff');
  assert.deepEqual([answer.status, answer.body.details], [404, 'path: must be percent-encoded UTF-8']);
});

const IBAN = 'DE02120300000000202051';
const PAYEE = 'Hieronymus Leckmich';
const SECRET = 'hush-hush-secret';
const hook = (written: string) =>
  `mutation { createSubscription(input: {subscription: ${written}}) { subscription { id } } }`;
const VARIABLE =
  'mutation ($s: SubscriptionInput!) { createSubscription(input: {subscription: $s}) { subscription { id } } }';

/** What a caller gets wrong beside a bank detail or a secret: the address, the type of the body, and the body. */
const WRONG: Record<string, [string, string, string]> = {
  'a text without quotes': ['/beneficiaries', 'application/json', `{"name": "${PAYEE}", "iban": ${IBAN}}`],
  'other quotes': ['/beneficiaries/search', 'application/json', `{'iban': '${IBAN}'}`],
  'a bare text': ['/beneficiaries/search', 'application/json', IBAN],
  'a file of payees without a header': ['/mass-beneficiaries', 'text/csv', `${PAYEE},${IBAN},DE,DE,EUR\n`],
  'a file that begins with an account': ['/mass-beneficiaries', 'text/csv', `${IBAN},${PAYEE},DE,DE,EUR\n`],
  'an address that nobody serves': [`/beneficiaries/iban/${IBAN}`, 'application/json', '{}'],
  'a method that nobody serves': [`/accounts/${IBAN}`, 'application/json', '{}'],
  'a secret of another type': [
    '/webhooks/graphql',
    'application/json',
    JSON.stringify({ query: VARIABLE, variables: { s: { secret: [SECRET], types: [] } } }),
  ],
  'a secret that is no text': [
    '/webhooks/graphql',
    'application/json',
    JSON.stringify({ query: hook(`{url: "http://x", secret: ${SECRET.replaceAll('-', '_')}, types: []}`) }),
  ],
  'a secret in the wrong place': [
    '/webhooks/graphql',
    'application/json',
    JSON.stringify({ query: hook(`{url: "http://x", types: [] "${SECRET}"}`) }),
  ],
};

test('neither the log nor the list of refused requests repeats a bank detail or a secret', async () => {
  const ids = await Promise.all(
    Object.values(WRONG).map(async ([path, type, raw]) => {
      const query = `?client_id=${world.clientId}`;
      const answer = await call(`${service.api}${path}${query}`, 'POST', {
        ...{ token: world.token, raw, headers: { 'content-type': type } },
      });
      assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
      return answer.headers.get('x-request-id') as string;
    }),
  );
  for (const [index, what] of Object.keys(WRONG).entries()) {
    const refused = () => service.operator('GET', `/requests?request_id=${ids[index]}`);
    const [{ details }] = await until(async () => {
      const { body } = await refused();
      return body.length > 0 && body;
    });
    assert.doesNotMatch(details, /DE02|Leckmich|hush/, `${what}: ${details}`);
  }
});

test('a column that is misspelt is named, in a file with a header', async () => {
  const answer = await call(`${service.api}/mass-beneficiaries?client_id=${world.clientId}`, 'POST', {
    ...{ token: world.token, raw: 'name,ibann\nAcme,1\n', headers: { 'content-type': 'text/csv' } },
  });
  assert.match(answer.body.details, /^body: the header has "ibann", which is not a field of a beneficiary/);
});

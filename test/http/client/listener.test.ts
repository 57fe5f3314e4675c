import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createWorld } from '../../world/client.ts';
import { call, startTestService, type TestService } from '../../world/service.ts';
import { until } from '../../world/until.ts';

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let token: string;
before(async () => {
  service = await startTestService();
  world = await createWorld(service);
  token = await world.signIn();
});
after(() => service.stop());

const get = (path: string, headers: Record<string, string> = {}, as = token) =>
  service.client(as, 'GET', path, { headers });
const withClient = (path: string) => `${path}${path.includes('?') ? '&' : '?'}client_id=${world.clientId}`;

/** Every read of the client API that this build serves, with an entity of the client where it needs one. */
const READS = [
  '/payments',
  '/accounts/currency-accounts',
  '/quotes/fx-availability',
  '/accounts/0f8fad5b-d9cb-469f-a165-70867728950e',
  '/payments/PAY000001',
];

for (const path of READS) {
  test(`GET ${path}: token, client, contact are checked in this order`, async () => {
    for (const [authorization, code] of [
      [undefined, 'authentication_failed'],
      ['', 'authentication_failed'],
      ['Basic YTpi', 'authentication_failed'],
      ['Bearer', 'authentication_failed'],
      ['Bearer !!', 'authentication_failed'],
      ['Bearer unknown', 'authentication_failed'],
      [`Bearer ${'x'.repeat(10_000)}`, 'authentication_failed'],
    ] as const) {
      const answer = await call(`${service.api}${path}?client_id=nobody&page=0`, 'GET', {
        headers: authorization === undefined ? {} : { authorization },
      });
      assert.deepEqual([answer.status, answer.body.code], [401, code]);
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer .*error="invalid_token"/);
      assert.deepEqual(Object.keys(answer.body), ['code', 'message', 'details']);
    }
    for (const query of ['', '?client_id=']) {
      const answer = await get(`${path}${query}`);
      assert.deepEqual([answer.status, answer.body.code], [400, 'missing_parameter']);
      assert.ok(answer.body.details.includes('query.client_id'));
    }
    assert.equal((await get(`${path}?client_id=a&client_id=b`)).status, 400);
    const unknown = await get(`${path}?client_id=CLI999999&page=0`);
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'client_not_found']);
    const other = await createWorld(service, 'Not mine');
    const foreign = await get(`${path}?client_id=${other.clientId}`);
    assert.deepEqual([foreign.status, foreign.body], [unknown.status, unknown.body], 'nobody can probe for clients');
    const mismatch = await get(withClient(`${path}?page=0`), { 'x-contact-id': 'CON999999' });
    assert.deepEqual([mismatch.status, mismatch.body.code], [403, 'contact_mismatch']);
    assert.notEqual(
      (await get(withClient(path), { 'x-contact-id': world.contactId, 'x-api-key': 'whatever' })).status,
      403,
    );
  });
}

test('a disabled client is refused, and an enabled one let in again', async () => {
  const own = await createWorld(service, 'To be disabled');
  const mine = await own.signIn();
  const look = () => service.client(mine, 'GET', `/payments?client_id=${own.clientId}`);
  assert.equal((await look()).status, 200);
  await service.operator('PATCH', `/clients/${own.clientId}`, { status: 'disabled' });
  await until(async () => (await look()).body.code === 'client_disabled');
  assert.equal((await look()).status, 403);
  await service.operator('PATCH', `/clients/${own.clientId}`, { status: 'enabled' });
  await until(async () => (await look()).status === 200);
});

test('an access token expires after an hour of the service clock', async () => {
  const own = await startTestService();
  try {
    const there = await createWorld(own);
    const mine = await there.signIn();
    const look = () => own.client(mine, 'GET', `/payments?client_id=${there.clientId}`);
    assert.equal((await look()).status, 200);
    await own.operator('PUT', '/clock', { advance_seconds: 3_601 });
    const late = await look();
    assert.deepEqual([late.status, late.body.code], [401, 'token_expired']);
  } finally {
    await own.stop();
  }
});

test('accounts: exactly the fields of the interface, of this client only', async () => {
  const created = await service.operator('POST', '/accounts', {
    client_id: world.clientId,
    currency: 'EUR',
    account_details: [
      {
        account_number: 'GB29NWBK60161331926819',
        account_number_type: 'IBAN',
        bank_identifier: 'NWBKGB2L',
        bank_identifier_type: 'SWBIC',
      },
    ],
  });
  const { body } = await get(withClient(`/accounts/${created.body.account_id}`));
  assert.deepEqual(body, {
    account_id: created.body.account_id,
    account_subtype: 'EMoney',
    account_type: 'Business',
    currency: 'EUR',
    status: 'Enabled',
    account_details: [
      {
        account_address: '',
        account_name: '',
        account_number: 'GB29NWBK60161331926819',
        account_number_type: 'IBAN',
        bank_identifier: 'NWBKGB2L',
        bank_identifier_type: 'SWBIC',
      },
    ],
  });
  const other = await createWorld(service, 'Other');
  const foreign = await service.client(
    await other.signIn(),
    'GET',
    `/accounts/${created.body.account_id}?client_id=${other.clientId}`,
  );
  assert.deepEqual([foreign.status, foreign.body.code], [404, 'account_not_found']);
  assert.equal(
    (await get(withClient('/accounts/0f8fad5b-d9cb-469f-a165-708677289500'))).body.code,
    'account_not_found',
  );
  assert.equal((await get(withClient('/accounts/not-a-uuid'))).body.code, 'account_not_found');
});

test('currency accounts are listed with integer ids', async () => {
  for (const currency of ['USD', 'EUR'])
    await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency });
  const { body } = await get(withClient('/accounts/currency-accounts'));
  assert.deepEqual(
    body.map((account: { currency: string }) => account.currency),
    ['EUR', 'USD'],
  );
  assert.ok(body.every((account: { account_id: unknown }) => Number.isInteger(account.account_id)));
});

test('FX availability follows the operator, and a client without FX gets 409', async () => {
  for (const [mode, available] of [
    ['open', true],
    ['closed', false],
  ] as const) {
    await service.operator('PUT', '/fx-availability', { mode });
    assert.deepEqual((await get(withClient('/quotes/fx-availability'))).body, { fx_available: available });
  }
  const without = await createWorld(service, 'No FX', { fx_enabled: false });
  const answer = await service.client(
    await without.signIn(),
    'GET',
    `/quotes/fx-availability?client_id=${without.clientId}`,
  );
  assert.deepEqual([answer.status, answer.body.code], [409, 'fx_not_enabled']);
});

test('GET /payments/{payment_id} is the payment as the search shows it', async () => {
  const { body } = await world.pay({ payment_id: 'single-1', amount: '0.10', reference: 'R "1"' });
  const [found] = (await get(withClient('/payments?payment_ids=single-1'))).body;
  const single = await get(withClient('/payments/single-1'));
  assert.deepEqual(single.body, found);
  assert.equal(single.body.uuid, body.uuid);
  assert.ok(single.text.includes('"amount":0.10,'));
  assert.equal((await get(withClient('/payments/single-2'))).body.code, 'payment_not_found');
  const links = new URL(single.body.payment_instruction);
  assert.deepEqual(
    [links.origin, links.pathname, links.searchParams.get('type'), links.searchParams.get('id')],
    [service.api, '/documents', 'pi', 'single-1'],
  );
});

test('rate limits: 429 with Retry-After and the RateLimit headers, for each application and client', async () => {
  const own = await startTestService({ LOMBARD_API_RATE: '5' });
  try {
    const there = await createWorld(own);
    const mine = await there.signIn();
    const look = () => own.client(mine, 'GET', `/payments?client_id=${there.clientId}`);
    for (let count = 0; count < 5; count += 1) {
      const answer = await look();
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('ratelimit') ?? '', new RegExp(`^"api";r=${4 - count};t=\\d+$`));
      assert.equal(answer.headers.get('ratelimit-policy'), '"api";q=5;w=60');
    }
    const refused = await look();
    assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited']);
    const wait = Number(refused.headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 60);
  } finally {
    await own.stop();
  }
});

test('unknown paths, wrong methods and unknown parameters', async () => {
  assert.equal((await get('/nothing')).body.code, 'not_found');
  assert.equal((await get('/clients/CLI000001')).status, 404, 'the operator interface is not here');
  const wrong = await service.client(token, 'PUT', withClient('/payments'));
  assert.deepEqual(
    [wrong.status, wrong.body.code, wrong.headers.get('allow')],
    [405, 'method_not_allowed', 'GET, HEAD, PATCH, POST'],
  );
  assert.equal((await get(withClient('/payments?colour=red'))).status, 200);
  assert.equal((await get(withClient(`/payments?reference=${encodeURIComponent('a\u0000b')}`))).status, 400);
  assert.equal((await get(withClient('/payments/%00'))).status < 500, true);
  assert.equal((await get(withClient('/payments/%E0%A4%A'))).status < 500, true);
});

test('an identifier in the path with a NUL character is an unknown identifier', async () => {
  for (const [method, path, status, code] of [
    ['GET', '/payments/%00', 404, 'payment_not_found'],
    ['GET', '/payments/PAY%00/approvals', 404, 'payment_not_found'],
    ['PATCH', '/payments/PAY%00?action=authorise', 404, 'payment_not_found'],
    ['DELETE', '/payments/PAY%00', 404, 'payment_not_found'],
    ['GET', '/accounts/%00', 404, 'account_not_found'],
    ['DELETE', '/multipayments/1%00', 404, 'multipayment_not_found'],
    ['POST', '/webhooks/ping/%00', 404, 'subscription_not_found'],
  ] as const) {
    const answer = await service.client(token, method, withClient(path));
    assert.deepEqual([answer.status, answer.body.code], [status, code], `${method} ${path}`);
  }
  for (const noun of ['client', 'contact', 'payment', 'trade']) {
    const answer = await service.operator('GET', `/${noun}s/%00`);
    assert.deepEqual([answer.status, answer.body.code], [404, `${noun}_not_found`], noun);
  }
});

test('the description is OpenAPI 3.1, version 0.1, with every parameter, error and an example', async () => {
  const { body } = await call(`${service.api}/openapi.json`, 'GET');
  assert.equal(body.openapi, '3.1.0');
  assert.equal(body.info.version, '0.1');
  assert.equal(body.servers[0].url, service.api);
  const search = body.paths['/payments'].get;
  const names = search.parameters.map((parameter: { name: string }) => parameter.name);
  for (const name of [
    'client_id',
    'payment_ids',
    'mass_payment_id',
    'mass_payment_external_reference_id',
    'payment_currency',
    'amount',
    'amount_range',
    'page',
    'page_size',
    'order',
    'order_by',
    'reference',
    'trade_id',
    'beneficiary_id',
    'from_payment_date',
    'to_payment_date',
    'from_created_date',
    'to_created_date',
    'status',
  ]) {
    assert.ok(names.includes(name), name);
  }
  for (const status of ['200', '400', '401', '403', '404', '502']) assert.ok(search.responses[status], status);
  assert.equal((await call(`${service.api}/docs/`, 'GET')).status, 200);
});

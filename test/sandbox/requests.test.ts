import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessToken } from '../world/access-token.ts';
import { createIntegrator, type Integrator } from '../world/sandbox.ts';
import { call, startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const requests = async (client: Integrator, query = '') => {
  const answer = await client.ask('GET', `/sandbox/requests?x=1${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer;
};

const graphql = (client: Integrator, body: object) => client.ask('POST', '/webhooks/graphql', body);

test('each request, newest first, with code and details, paged', async () => {
  const client = await createIntegrator(service);
  await client.ask('GET', '/payments?page_size=2');
  await client.ask('GET', '/payments?page_size=none');
  await client.ask('GET', '/payments/absent');
  await client.ask('POST', '/sandbox/payments', { amount: 12.5, reference: 'é'.repeat(400) });
  await client.ask('GET', '/paymentz');
  await client.ask('PUT', '/payments');
  const { body, headers } = await requests(client);
  assert.equal(headers.get('x-total-count'), '6');
  assert.deepEqual(
    body.map((each: { method: string; status: number; code: string | null }) => [each.method, each.status, each.code]),
    [
      ['PUT', 405, 'method_not_allowed'],
      ['GET', 404, 'not_found'],
      ['POST', 201, null],
      ['GET', 404, 'payment_not_found'],
      ['GET', 400, 'invalid_parameter'],
      ['GET', 200, null],
    ],
  );
  const [, , created, , wrong, read] = body;
  assert.deepEqual(Object.keys(read), [
    'at',
    'method',
    'path',
    'status',
    'code',
    'details',
    'ms',
    'request_id',
    'application',
    'request_body',
    'response_body',
    'ignored_parameters',
  ]);
  assert.equal(read.path, `/payments?page_size=2&client_id=${client.clientId}`);
  assert.equal(read.application, 'written-tokens');
  assert.equal(read.response_body, '[]');
  assert.equal(read.request_body, null);
  assert.ok(read.ms >= 0 && !Number.isNaN(Date.parse(read.at)) && read.request_id.length > 0);
  assert.match(wrong.details, /^query\.page_size/);
  assert.equal(JSON.parse(created.request_body).amount, 12.5);
  assert.ok(JSON.parse(created.response_body).payment_id);
  assert.equal((await requests(client, '&page=2&page_size=4')).body.length, 2);
  assert.equal((await requests(client, '&status=404')).body.length, 2);
  assert.equal((await requests(client, '&status=4xx')).headers.get('x-total-count'), '4');
  assert.deepEqual((await requests(client, '&status=5xx')).body, []);
  for (const status of ['4', '4XX0', 'abc', '600', '']) {
    const refused = await client.ask('GET', `/sandbox/requests?status=${status}`);
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_parameter'], status);
  }
});

test('a query parameter that the operation does not know is told in a header and here', async () => {
  const client = await createIntegrator(service);
  const ignoredBy = async (method: string, path: string) =>
    (await client.ask(method, path)).headers.get('x-ignored-parameters');
  assert.equal(await ignoredBy('GET', '/payments?stauts=pending_your_approval&page=1&Page=2'), 'stauts, Page');
  assert.equal(await ignoredBy('GET', '/payments?page_size=0&stauts=x'), 'stauts');
  assert.equal(await ignoredBy('GET', '/accounts/currency-accounts?status=x&status=y'), 'status');
  assert.equal(await ignoredBy('POST', '/sandbox/payments?approval=needed'), 'approval');
  assert.equal(await ignoredBy('GET', '/payments?a%0d%0ab,=1&%C3%A4=2'), 'a%0D%0Ab%2C, %C3%A4');
  assert.equal(await ignoredBy('GET', '/payments?status=pending'), null);
  assert.equal(await ignoredBy('GET', '/paymentz?status=pending'), null);
  const many = await ignoredBy('GET', `/payments?${Array.from({ length: 50 }, (_, n) => `p${n}=1`).join('&')}`);
  assert.equal(many?.split(', ').length, 20);
  const { body } = await requests(client);
  const told = body.map((each: { ignored_parameters: string[] }) => each.ignored_parameters);
  const expected = [['stauts', 'Page'], ['stauts'], ['status'], ['approval'], ['a\r\nb,', 'ä'], [], []];
  assert.deepEqual(told.toReversed().slice(0, 7), expected);
});

test('bodies are cut at 4 KiB, at a whole character', async () => {
  const client = await createIntegrator(service);
  await client.ask('POST', '/statements/accounts', { date_from: 'x'.repeat(4_080) + '€'.repeat(10) });
  const [{ request_body: body }] = (await requests(client)).body;
  assert.ok(Buffer.byteLength(body) <= 4_096 && Buffer.byteLength(body) > 4_090);
  assert.ok(!body.includes('\ufffd'));
});

test('refusals of a good token are there; bad tokens and other clients are not', async () => {
  const client = await createIntegrator(service);
  const reader = await client.join('Reader', []);
  const stranger = await createIntegrator(service);
  await reader.ask('DELETE', '/multipayments/1');
  await call(`${service.api}/payments?client_id=${client.clientId}`, 'GET', {
    token: client.token,
    headers: { 'x-contact-id': 'somebody' },
  });
  await client.as(stranger.token)('GET', '/payments');
  await client.as('no-token-at-all')('GET', '/payments');
  await client.as('no-token-at-all')('GET', '/nowhere');
  const expired = await accessToken(service, client.contactId, -1);
  await client.as(expired)('GET', '/payments');
  await client.as(expired)('GET', '/nowhere');
  const { body } = await requests(client);
  assert.deepEqual(
    body.map((each: { code: string }) => each.code),
    ['contact_mismatch', 'permission_denied'],
  );
  assert.deepEqual((await requests(stranger)).body, []);
});

test('secrets are masked: by name, in GraphQL in literals, variables and under aliases, in the answer and its details', async () => {
  const client = await createIntegrator(service);
  const SECRETS = [
    'whsec_literal',
    'whsec_variable',
    'whsec_nested',
    'whsec_default',
    'hdr_literal',
    'hdr_variable',
    'hdr_nested',
    'hdr_list',
    'whsec_text',
    'pass_word',
    'tok_en',
    'whsec_broken',
  ];
  const url = '"https://receiver.example/hook"';
  const create = (fields: string, head = '') =>
    `mutation M${head} { made: createSubscription(input: {subscription: {url: ${url}, types: [], ${fields}}}) { subscription { id geheim: secret extraHeaders { name wert: value } } } }`;
  const sent = [
    { query: create('secret: "whsec_literal", extraHeaders: [{name: "x-a", value: "hdr_literal"}]') },
    {
      query: create('secret: $s, extraHeaders: [{name: "x-b", value: $v}]', '($s: String, $v: String!)'),
      variables: { s: 'whsec_variable', v: 'hdr_variable' },
    },
    {
      query: create('extraHeaders: $h', '($h: [ExtraHeaderInput!])'),
      variables: { h: [{ name: 'x-c', value: 'hdr_list' }] },
    },
    {
      query: `mutation ($x: SubscriptionInput!) { createSubscription(input: {subscription: $x}) { subscription { id ...F } } } fragment F on Subscription { s: secret h: extraHeaders { n: name v: value } }`,
      variables: {
        x: {
          url: 'https://receiver.example/hook',
          types: [],
          secret: 'whsec_nested',
          extraHeaders: [{ name: 'x-d', value: 'hdr_nested' }],
        },
      },
    },
    { query: create('secret: $s', '($s: String = "whsec_default")') },
    { query: create('secret: $s', '($s: String)'), variables: '{"s": "whsec_text", "shown": "in a text"}' },
  ];
  for (const body of sent) {
    const answer = await graphql(client, body);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.errors, undefined, answer.text);
  }
  await graphql(client, { query: '{ subscriptions { nodes { id a: secret b: extraHeaders { c: value } } } }' });
  await graphql(client, {
    query: 'mutation { createSubscription(secret: "whsec_broken"',
    variables: { s: 'whsec_broken' },
  });
  await graphql(client, { query: create('secret: $s', '($s: Int)'), variables: { s: 'whsec_variable' } });
  await client.ask('POST', '/sandbox/payments', { password: 'pass_word', nested: [{ access_token: 'tok_en' }] });
  await client.ask('GET', '/payments?access_token=tok_en&verification_code=tok_en');
  await client.ask('GET', `/payments?reference=${client.token}`);
  await call(`${service.api}/sandbox/payments?client_id=${client.clientId}`, 'POST', {
    token: client.token,
    raw: '{"secret": "whsec_broken",',
    headers: { 'content-type': 'application/json' },
  });
  const { text, body } = await requests(client);
  assert.equal(body.length, 13);
  for (const secret of [...SECRETS, client.token]) assert.ok(!text.includes(secret), `${secret}: ${text}`);
  const stored = await service.query('select string_agg(r::text, $1) as all from sandbox_requests r', ['\n']);
  for (const secret of [...SECRETS, client.token]) assert.ok(!stored.rows[0].all.includes(secret), secret);
  // What is no secret stays readable.
  assert.ok(text.includes('x-a') && text.includes('x-c') && text.includes('receiver.example'));
  assert.ok(text.includes('in a text'), 'variables in a text are masked as those in an object');
  assert.match(
    body.at(-1).request_body,
    /secret: \\"\*\*\*\\", extraHeaders: \[\{name: \\"x-a\\", value: \\"\*\*\*\\"\}\]/,
  );
  assert.match(body.at(-1).response_body, /"geheim":"\*\*\*"/);
});

test('a GraphQL refusal has a code and details', async () => {
  const client = await createIntegrator(service);
  await graphql(client, { query: '{ nothing }' });
  const [entry] = (await requests(client)).body;
  assert.equal(entry.status, 400);
  assert.match(entry.details, /nothing/);
});

test('the last 1,000 of a client are kept', async () => {
  const client = await createIntegrator(service);
  await service.query(
    `insert into sandbox_requests (client_id, at, method, path, status, ms, request_id, application)
     select $1, now(), 'GET', '/old/' || n, 200, 1, 'r', 'a' from generate_series(1, 1500) n`,
    [client.clientId],
  );
  await client.ask('GET', '/payments');
  const { body, headers } = await requests(client, '&page_size=1000');
  assert.equal(headers.get('x-total-count'), '1000');
  assert.match(body[0].path, /^\/payments/);
  assert.equal(body.at(-1).path, '/old/502');
  const { rows } = await service.query('select count(*)::int as n from sandbox_requests where client_id = $1', [
    client.clientId,
  ]);
  assert.equal(rows[0].n, 1000);
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Pool } from '../../../src/database/database.ts';
import { ClockFollower } from '../../../src/sandbox/clock.ts';
import { ServiceClock } from '../../../src/values/calendar.ts';
import { createWorld } from '../../world/client.ts';
import { call, startTestService, type TestService } from '../../world/service.ts';
import { until } from '../../world/until.ts';

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
before(async () => {
  service = await startTestService();
  world = await createWorld(service);
});
after(() => service.stop());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  service.operator('POST', path, body, { headers });

test('identifiers are made in order, or given; a used one is a 409', async () => {
  const made = await post('/clients', { client_name: 'Made' });
  assert.equal(made.status, 201);
  assert.match(made.body.client_id, /^CLI\d{6}$/);
  const given = await post('/clients', { client_name: 'Given', client_id: 'core-17' });
  assert.equal(given.body.client_id, 'core-17');
  const again = await post('/clients', { client_name: 'Again', client_id: 'core-17' });
  assert.deepEqual([again.status, again.body.code], [409, 'already_exists']);
  assert.equal(given.headers.get('x-request-id')?.length, 36);
});

test('the whole record comes back, with its defaults', async () => {
  const { body } = await post('/clients', { client_name: 'Defaults' });
  const { client_id: _id, became_client: _day, ...rest } = body;
  assert.deepEqual(rest, {
    client_name: 'Defaults',
    account_number: null,
    status: 'enabled',
    fx_enabled: true,
    mass_payments_customer: false,
    authorisation_workflow: 'simple',
    payment_approvals_enabled: false,
    payment_creator_approval_enabled: false,
    approval_step_up: false,
    daily_payment_limit: null,
    statement_push_url: null,
  });
  const application = await post('/applications', { name: 'App', redirect_uris: ['https://app.example/cb'] });
  assert.equal(application.status, 201);
  assert.equal(application.body.refresh_token_days, 28);
  assert.ok(Buffer.from(application.body.client_secret, 'base64url').length >= 32);
  const read = await service.operator('GET', `/applications/${application.body.client_id}`);
  assert.equal(read.body.client_secret, undefined);
  const rotated = await post(`/applications/${application.body.client_id}/secret`, { overlap_seconds: 60 });
  assert.notEqual(rotated.body.client_secret, application.body.client_secret);
  const atOnce = await post(`/applications/${application.body.client_id}/secret`, undefined);
  assert.deepEqual([atOnce.status, atOnce.body.overlap_seconds], [201, 0], 'the body may be left out');
});

const bad: [string, string, unknown, string][] = [
  ['/clients', 'no name', {}, 'body.client_name'],
  ['/clients', 'an unknown field', { client_name: 'A', colour: 'red' }, 'body.colour'],
  [
    '/clients',
    'a wrong workflow',
    { client_name: 'A', authorisation_workflow: '5-eyes' },
    'body.authorisation_workflow',
  ],
  ['/clients', 'an identifier with a blank', { client_name: 'A', client_id: 'a b' }, 'body.client_id'],
  ['/clients', 'a day that is none', { client_name: 'A', became_client: '2026-02-30' }, 'body.became_client'],
  ['/clients', 'an empty name', { client_name: '' }, 'body.client_name'],
  ['/clients', 'a NUL character', { client_name: 'A\u0000B' }, 'body.client_name: must not contain a NUL'],
  ['/contacts', 'no email', { name: 'A', clients: [] }, 'body.email'],
  ['/contacts', 'an email that is none', { name: 'A', email: 'nobody', clients: [] }, 'body.email'],
  [
    '/contacts',
    'a short password',
    { name: 'A', email: 'a@b.example', password: 'short', clients: [] },
    'body.password',
  ],
  [
    '/contacts',
    'sms without a phone',
    { name: 'A', email: 'a@b.example', second_factor: 'sms', clients: [] },
    'body.phone',
  ],
  [
    '/contacts',
    'a permission that is none',
    { name: 'A', email: 'a@b.example', clients: [{ client_id: 'x', permissions: ['root'] }] },
    'body.clients[0].permissions[0]',
  ],
  ['/applications', 'no redirect address', { name: 'A', redirect_uris: [] }, 'body.redirect_uris'],
  ['/applications', 'a fragment', { name: 'A', redirect_uris: ['https://a.example/#x'] }, 'body.redirect_uris[0]'],
  ['/applications', 'a script', { name: 'A', redirect_uris: ['javascript:alert(1)'] }, 'body.redirect_uris[0]'],
  ['/applications', 'a relative address', { name: 'A', redirect_uris: ['/cb'] }, 'body.redirect_uris[0]'],
  ['/operator-tokens', 'a role that is none', { name: 'A', role: 'root' }, 'body.role'],
  ['/exchange-rates', 'no rates', { base_currency: 'GBP', rates: {} }, 'body.rates'],
  ['/exchange-rates', 'a negative rate', { base_currency: 'GBP', rates: { USD: -1 } }, 'body.rates.USD'],
  ['/exchange-rates', 'a currency that is none', { base_currency: 'GBP', rates: { usd: 1 } }, 'body.rates.usd'],
  ['/fx-availability', 'a mode that is none', { mode: 'sometimes' }, 'body.mode'],
  ['/fx-availability', 'a day that is none', { mode: 'auto', holidays: ['2026-02-30'] }, 'body.holidays[0]'],
];
for (const [path, what, body, field] of bad) {
  test(`${path}: ${what} is a 400 that names ${field}`, async () => {
    const method = ['/exchange-rates', '/fx-availability'].includes(path) ? 'PUT' : 'POST';
    const answer = await service.operator(method, path, body);
    assert.equal(answer.status, 400, answer.text);
    assert.ok(answer.body.details.includes(field), answer.body.details);
    assert.deepEqual(Object.keys(answer.body), ['code', 'message', 'details']);
  });
}

const wrongPayments: [string, object, number, string][] = [
  ['no amount', { amount: undefined }, 400, 'body.amount'],
  ['an amount of zero', { amount: 0 }, 400, 'body.amount'],
  ['a negative amount', { amount: -5 }, 400, 'body.amount'],
  ['too many decimals', { amount: '1.123456789' }, 400, 'body.amount'],
  ['a currency that is none', { payment_currency: 'eur' }, 400, 'body.payment_currency'],
  ['a day that is none', { payment_date: '2026-02-30' }, 400, 'body.payment_date'],
  ['a trade that is none', { trade_id: 'TRD999999' }, 404, 'body.trade_id'],
  ['a beneficiary that is none', { beneficiary_id: 'BEN999999' }, 404, 'body.beneficiary_id'],
  ['a contact that is none', { contact_id: 'CON999999' }, 404, 'body.contact_id'],
  ['a client that is none', { client_id: 'CLI999999' }, 404, 'body.client_id'],
  ['a scheme that is none', { scheme: 'PIGEON' }, 400, 'body.scheme'],
  ['a mass payment that is no uuid', { mass_payment_id: 'x' }, 400, 'body.mass_payment_id'],
];
for (const [what, fields, status, field] of wrongPayments) {
  test(`a payment with ${what} is a ${status} that names ${field}, and nothing is written`, async () => {
    const before = (await service.query('select count(*)::int as n from payments')).rows[0].n;
    const answer = await world.pay(fields);
    assert.equal(answer.status, status, answer.text);
    assert.ok(answer.body.details.includes(field), answer.body.details);
    assert.equal((await service.query('select count(*)::int as n from payments')).rows[0].n, before);
  });
}

test('a trade or beneficiary of another client cannot be used', async () => {
  const other = await createWorld(service, 'Other');
  for (const field of ['trade_id', 'beneficiary_id', 'contact_id'] as const) {
    assert.equal((await world.pay({ [field]: other.base[field] })).status, 404, field);
  }
});

test('IBAN and BIC are checked', async () => {
  const beneficiary = (fields: object) =>
    post('/beneficiaries', { client_id: world.clientId, beneficiary_name: 'B', ...fields });
  assert.equal((await beneficiary({ iban: 'DE89370400440532013001' })).body.details.includes('body.iban'), true);
  assert.equal((await beneficiary({ iban: 'DE8937040044053201300' })).status, 400);
  assert.equal((await beneficiary({ swift_code: 'COBADEF' })).body.details.includes('body.swift_code'), true);
  const good = await beneficiary({ iban: 'gb29 nwbk 6016 1331 9268 19', swift_code: 'nwbkgb2l' });
  assert.deepEqual([good.status, good.body.iban, good.body.swift_code], [201, 'GB29NWBK60161331926819', 'NWBKGB2L']);
  const patched = await service.operator('PATCH', `/beneficiaries/${good.body.beneficiary_id}`, {
    beneficiary_blocked: true,
  });
  assert.equal(patched.body.beneficiary_blocked, true);
  assert.equal(patched.body.iban, 'GB29NWBK60161331926819');
});

test('an idempotency key gives the stored answer again, and refuses another body', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const first = await post('/clients', { client_name: 'Once' }, key);
  const second = await post('/clients', { client_name: 'Once' }, key);
  assert.deepEqual([second.status, second.text], [first.status, first.text]);
  assert.equal(first.headers.get('idempotency-replayed'), null);
  assert.equal(second.headers.get('idempotency-replayed'), 'true');
  const other = await post('/clients', { client_name: 'Twice' }, key);
  assert.deepEqual([other.status, other.body.code], [409, 'idempotency_conflict']);
  assert.equal((await post('/clients', { client_name: 'X' }, { 'idempotency-key': 'k'.repeat(256) })).status, 400);
});

test('of ten requests with one key at once, one executes', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => post('/clients', { client_name: 'Parallel' }, key)),
  );
  assert.equal(new Set(answers.map((answer) => answer.body.client_id)).size, 1);
  assert.equal(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null).length, 1);
  const { rows } = await service.query("select count(*)::int as n from clients where client_name = 'Parallel'");
  assert.equal(rows[0].n, 1);
});

test('a key whose request failed can be used again', async () => {
  const key = { 'idempotency-key': randomUUID() };
  assert.equal((await post('/beneficiaries', { client_id: 'none', beneficiary_name: 'B' }, key)).status, 404);
  await post('/clients', { client_id: 'none', client_name: 'Now there is' });
  assert.equal((await post('/beneficiaries', { client_id: 'none', beneficiary_name: 'B' }, key)).status, 201);
});

test('roles: core feeds, support reads, and a revoked or expired token is refused', async () => {
  const token = async (role: string, more: object = {}) =>
    (await post('/operator-tokens', { name: randomUUID(), role, ...more })).body;
  const core = await token('core');
  const support = await token('support');
  const as = (who: { token: string }, method: string, path: string, body?: unknown) =>
    service.operator(method, path, body, { token: who.token });
  assert.equal((await as(core, 'POST', '/clients', { client_name: 'By core' })).status, 201);
  assert.equal((await as(core, 'POST', '/operator-tokens', { name: 'x', role: 'admin' })).status, 403);
  assert.equal(
    (await as(core, 'POST', '/applications', { name: 'x', redirect_uris: ['https://a.example'] })).status,
    403,
  );
  assert.equal((await as(support, 'GET', '/clients')).status, 200);
  assert.equal((await as(support, 'POST', '/clients', { client_name: 'By support' })).body.code, 'permission_denied');
  assert.equal((await service.operator('DELETE', `/operator-tokens/${support.id}`)).status, 204);
  assert.equal((await as(support, 'GET', '/clients')).status, 401);
  const short = await token('core', { expires_at: new Date(Date.now() + 600_000).toISOString() });
  await service.query("update operator_tokens set expires_at = now() - interval '1 s' where id = $1", [short.id]);
  assert.equal((await as(short, 'GET', '/clients')).body.code, 'token_expired');
  assert.equal((await call(`${service.operatorUrl}/clients`, 'GET')).status, 401);
  assert.ok(
    (await call(`${service.operatorUrl}/clients`, 'GET')).headers.get('www-authenticate')?.startsWith('Bearer'),
  );
  const { rows } = await service.query('select token_sha256 from operator_tokens');
  assert.ok(rows.every((row) => row.token_sha256.length === 32));
});

test('every change leaves an audit row without secrets, and the chain is proved', async () => {
  const contact = await post(
    '/contacts',
    {
      name: 'Audited',
      email: `${randomUUID()}@example.com`,
      password: 'a secret of mine',
      clients: [{ client_id: world.clientId }],
    },
    { 'x-request-id': 'my-request-1' },
  );
  const { body, headers } = await service.operator('GET', `/audit?entity=contact&entity_id=${contact.body.contact_id}`);
  assert.equal(headers.get('x-total-count'), '1');
  assert.equal(body[0].action, 'create');
  assert.equal(body[0].actor, 'operator:configured');
  assert.equal(body[0].request_id, 'my-request-1');
  assert.equal(body[0].after.name, 'Audited');
  const all = await service.operator('GET', '/audit?page_size=1000');
  assert.ok(!all.text.includes('a secret of mine'));
  const proof = await service.operator('GET', '/audit/verify');
  assert.equal(proof.body.valid, true);
  assert.equal(proof.body.rows, all.body.length);
});

test('a changed, a removed and a smuggled audit row are found', async () => {
  const own = await startTestService();
  try {
    for (const name of ['A', 'B', 'C']) await own.operator('POST', '/clients', { client_name: name });
    assert.equal((await own.operator('GET', '/audit/verify')).body.valid, true);
    await assert.rejects(own.query("update audit set actor = 'nobody'"), /never changed/);
    await own.query('alter table audit disable trigger all');
    const second = (await own.query('select id from audit order by id offset 1 limit 1')).rows[0].id;
    await own.query("update audit set actor = 'nobody' where id = $1", [second]);
    const changed = (await own.operator('GET', '/audit/verify')).body;
    assert.deepEqual([changed.valid, changed.first_invalid], [false, Number(second)]);
    await own.query("update audit set actor = 'operator:configured' where id = $1", [second]);
    assert.equal((await own.operator('GET', '/audit/verify')).body.valid, true);
    await own.query('delete from audit where id = $1', [second]);
    assert.equal((await own.operator('GET', '/audit/verify')).body.first_invalid, Number(second));
  } finally {
    await own.stop();
  }
});

test('the clock of the sandbox moves, and is set back', async () => {
  const own = await startTestService();
  try {
    const advanced = await own.operator('PUT', '/clock', { advance_seconds: 86_400 });
    assert.ok(Math.abs(Date.parse(advanced.body.now) - Date.now() - 86_400_000) < 5_000);
    const at = await own.operator('PUT', '/clock', { at: '2030-01-01T00:00:00Z' });
    assert.ok(at.body.now.startsWith('2030-01-01T00:00:0'));
    assert.equal((await own.operator('PUT', '/clock', {})).status, 400);
    assert.equal((await own.operator('PUT', '/clock', { at: 'tomorrow' })).status, 400);
    const client = await own.operator('POST', '/clients', { client_name: 'Of 2030' });
    assert.equal(client.body.became_client, '2030-01-01');
    const back = await own.operator('DELETE', '/clock');
    assert.equal(back.body.offset_ms, 0);
  } finally {
    await own.stop();
  }
});

test('a move whose commit takes long is not taken back once it is answered', async () => {
  const own = await startTestService();
  try {
    await own.query(`create function slow_commit() returns trigger language plpgsql
      as $$ begin perform pg_sleep(1); return null; end $$`);
    await own.query(`create constraint trigger slow_commit after insert or update on service_clock
      deferrable initially deferred for each row execute function slow_commit()`);
    const moved = await own.operator('PUT', '/clock', { advance_seconds: 3_600 });
    assert.equal(moved.body.offset_ms, 3_600_000);
    assert.equal((await own.operator('GET', '/clock')).body.offset_ms, 3_600_000);
  } finally {
    await own.stop();
  }
});

test('an answer that was on its way while this process moved the clock does not move it back', async () => {
  const clock = new ServiceClock();
  const day = 86_400_000;
  let questions = 0;
  const slow = {
    query: async () => {
      questions += 1;
      const offset = clock.offset;
      // The second question is the first of those that are asked again and again: moved while its answer is on its way.
      if (questions === 2) clock.offset = day;
      return { rows: [{ offset_ms: offset }] };
    },
  } as unknown as Pool;
  const follower = new ClockFollower(slow, clock, service.service.context.log);
  await follower.start();
  await until(() => questions >= 3);
  follower.stop();
  assert.equal(clock.offset, day);
});

test('concurrent bookings of one account lose nothing, and each line has its balance', async () => {
  const account = await post('/currency-accounts', { client_id: world.clientId, currency: 'NOK' });
  assert.equal(
    (await post('/currency-accounts', { client_id: world.clientId, currency: 'NOK' })).body.code,
    'already_exists',
  );
  const book = (index: number) =>
    service.insist('/transactions', {
      client_id: world.clientId,
      currency_account_id: account.body.account_id,
      kind: index % 3 ? 'CREDIT_TRANSACTION' : 'DEBIT_TRANSACTION',
      amount: { amount: '0.10', currency: 'NOK' },
    });
  const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => book(index)));
  const refused = answers.filter((answer) => answer.status !== 201).map((answer) => answer.text);
  assert.deepEqual(refused, []);
  const { rows } = await service.query('select balance from currency_accounts where account_id = $1', [
    account.body.account_id,
  ]);
  assert.equal(rows[0].balance, '2.00');
  const lines = await service.query(
    'select amount, balance_after from transactions where currency_account_id = $1 order by id',
    [account.body.account_id],
  );
  let cents = 0n;
  for (const line of lines.rows) {
    cents += BigInt(line.amount.replace('.', ''));
    assert.equal(BigInt(line.balance_after.replace('.', '')), cents);
  }
  const wrong = await post('/transactions', {
    client_id: world.clientId,
    currency_account_id: account.body.account_id,
    kind: 'CREDIT_TRANSACTION',
    amount: { amount: 1, currency: 'EUR' },
  });
  assert.ok(wrong.body.details.includes('body.amount.currency'));
});

test('accounts move between Enabled and Disabled, and are deleted for good from Disabled only', async () => {
  const { body } = await post('/accounts', { client_id: world.clientId, currency: 'EUR' });
  const set = (status: string) => service.operator('PATCH', `/accounts/${body.account_id}`, { status });
  assert.equal((await set('Deleted')).body.code, 'transition_not_allowed');
  assert.equal((await set('Disabled')).body.status, 'Disabled');
  assert.equal((await set('Enabled')).body.status, 'Enabled');
  await set('Disabled');
  assert.equal((await set('Deleted')).body.status, 'Deleted');
  assert.equal((await set('Enabled')).status, 409);
});

test('onboarding is told to clients, but not to customers of mass payments', async () => {
  const count = async (clientId: string) =>
    (
      await service.query(
        "select body from webhook_events where client_id = $1 and type = 'ONBOARDING_STATUS_CHANGE'",
        [clientId],
      )
    ).rows;
  const told = await post('/onboarding-events', {
    client_id: world.clientId,
    onboarding_status: 'Active',
    account_number: '4711',
    service_id: 'S1',
    became_client: '2026-01-02',
  });
  assert.equal(told.status, 201);
  const [event] = await count(world.clientId);
  const [data] = JSON.parse(event.body).data;
  assert.deepEqual(data.attributes, {
    OnboardingStatus: 'Active',
    AccountNumber: '4711',
    ServiceId: 'S1',
    BecameClient: '2026-01-02',
  });
  assert.ok(data.links.self.startsWith('http'));
  const mass = await post('/clients', { client_name: 'Mass', mass_payments_customer: true });
  assert.equal(
    (await post('/onboarding-events', { client_id: mass.body.client_id, onboarding_status: 'Active' })).status,
    201,
  );
  assert.equal((await count(mass.body.client_id)).length, 0);
});

test('bodies: not JSON, not UTF-8, too large, another type, none', async () => {
  const url = `${service.operatorUrl}/clients`;
  const send = (raw: string | Uint8Array, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    fetch(url, {
      method: 'POST',
      body: raw as string,
      headers: { authorization: `Bearer ${service.operatorToken}`, ...headers },
    });
  assert.equal((await send('{"client_name":')).status, 400);
  assert.equal((await send(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))).status, 400);
  assert.equal((await send('{"__proto__":{"status":"disabled"},"client_name":"P"}')).status, 400);
  assert.equal((await send('[]')).status, 400);
  assert.equal((await send('null')).status, 400);
  assert.equal((await send(`{"client_name":"${'x'.repeat(1_100_000)}"}`)).status, 413);
  assert.equal((await send('a=b', { 'content-type': 'text/csv' })).status, 415);
  assert.equal(
    (await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${service.operatorToken}` } })).status,
    400,
  );
});

test('unknown addresses are 404, wrong methods 405 with Allow, and the request id is echoed', async () => {
  const nothing = await service.operator('GET', '/nothing/here');
  assert.deepEqual([nothing.status, nothing.body.code], [404, 'not_found']);
  const wrong = await service.operator('DELETE', '/clients/CLI000001');
  assert.deepEqual(
    [wrong.status, wrong.body.code, wrong.headers.get('allow')],
    [405, 'method_not_allowed', 'GET, HEAD, PATCH'],
  );
  const echoed = await service.operator('GET', '/clients', undefined, { headers: { 'x-request-id': 'abc.DEF-1_2' } });
  assert.equal(echoed.headers.get('x-request-id'), 'abc.DEF-1_2');
  const made = await service.operator('GET', '/clients', undefined, { headers: { 'x-request-id': 'not allowed!' } });
  assert.match(made.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
});

test('lists are paged, and say how many there are', async () => {
  const first = await service.operator('GET', '/clients?page=1&page_size=2');
  const second = await service.operator('GET', '/clients?page=2&page_size=2');
  assert.equal(first.body.length, 2);
  assert.equal(first.headers.get('x-total-count'), second.headers.get('x-total-count'));
  assert.notEqual(first.body[0].client_id, second.body[0].client_id);
  for (const query of ['page=0', 'page=x', 'page_size=0', 'page_size=1001', 'page=1&page=2']) {
    assert.equal((await service.operator('GET', `/clients?${query}`)).status, 400, query);
  }
});

test('short lists come whole, or a page of them', async () => {
  const { body: client } = await service.operator('POST', '/clients', { client_name: 'Three currencies' });
  for (const currency of ['CHF', 'EUR', 'GBP'])
    await service.operator('POST', '/currency-accounts', { client_id: client.client_id, currency });
  const list = async (query: string) => {
    const path = `/currency-accounts?client_id=${client.client_id}${query}`;
    const { body, headers } = await service.operator('GET', path);
    assert.equal(headers.get('x-total-count'), '3');
    return body.map(({ currency }: { currency: string }) => currency).join(' ');
  };
  assert.equal(await list(''), 'CHF EUR GBP');
  assert.equal(await list('&page=2&page_size=2'), 'GBP');
  assert.equal(await list('&page_size=1'), 'CHF');
  assert.equal(await list('&page=2'), '');
  for (const path of ['/operator-tokens', '/mailbox', '/text-messages', '/change-consumers', '/exchange-rates']) {
    const page = await service.operator('GET', `${path}?page=1&page_size=1`);
    assert.equal(page.status, 200, path);
    assert.match(page.headers.get('x-total-count') ?? '', /^\d+$/, path);
    assert.equal((await service.operator('GET', `${path}?page_size=1001`)).status, 400, path);
  }
});

test('health needs no token, metrics are in the text format of Prometheus, and the description is complete', async () => {
  assert.equal((await call(`${service.operatorUrl}/health/live`, 'GET')).status, 200);
  assert.equal((await call(`${service.operatorUrl}/health/ready`, 'GET')).status, 200);
  const metrics = await service.operator('GET', '/metrics');
  assert.match(metrics.text, /^lombard_http_request_duration_seconds_count\{.*route="\/clients".*\} \d+$/m);
  const description = await call(`${service.operatorUrl}/openapi.json`, 'GET');
  assert.equal(description.body.openapi, '3.1.0');
  assert.ok(description.body.paths['/payments/{payment_id}/actions'].post.requestBody);
});

test('a key gives the answer again also where the caller chose the identifier, which is taken by then', async () => {
  const { clientId } = world;
  const redirect_uris = ['https://app.example/cb'];
  const chosen: [path: string, body: (id: string) => Record<string, unknown>][] = [
    ['/clients', (id) => ({ client_id: id, client_name: 'Chosen' })],
    ['/contacts', (id) => ({ contact_id: id, name: 'Chosen', email: `${id}@example.com`, clients: [] })],
    ['/applications', (id) => ({ client_id: id, name: 'Chosen', redirect_uris })],
    ['/mass-beneficiaries', (id) => ({ client_id: clientId, mass_beneficiary_id: id, errors: [] })],
  ];
  for (const [path, body] of chosen) {
    const key = { 'idempotency-key': randomUUID() };
    const [one, other] = [body(randomUUID()), body(randomUUID())];
    const answers = await Promise.all([post(path, one, key), post(path, one, key)]);
    answers.push(await post(path, one, key));
    const texts = answers.map(({ text }) => text);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201],
      `${path}: ${texts.join(' ')}`,
    );
    assert.equal(new Set(texts).size, 1, path);
    assert.equal(answers.filter(({ headers }) => headers.has('idempotency-replayed')).length, 2, path);
    // The second one is another request, but asks for the same identifier.
    for (const different of [other, Object.fromEntries(Object.entries(one).toReversed())]) {
      const { status, body: refusal } = await post(path, different, key);
      assert.deepEqual([status, refusal.code], [409, 'idempotency_conflict'], path);
    }
  }
});

test('an answer that is kept for its idempotency key is encrypted: it can hold a secret that is shown once', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const body = { name: 'Kept', redirect_uris: ['https://kept.example/cb'] };
  const first = await post('/applications', body, key);
  const again = await post('/applications', body, key);
  assert.equal(again.body.client_secret, first.body.client_secret);
  const { rows } = await service.query('select body from idempotency_keys where key = $1', [key['idempotency-key']]);
  assert.ok(rows[0].body.length > 0);
  assert.ok(!rows[0].body.includes(first.body.client_secret));
});

test('an account is read by its id, and the clock is moved by an admin only', async () => {
  const made = await post('/accounts', { client_id: world.clientId, currency: 'CHF' });
  const read = await service.operator('GET', `/accounts/${made.body.account_id}`);
  assert.deepEqual(read.body, made.body);
  for (const role of ['core', 'support']) {
    const { body } = await post('/operator-tokens', { name: `clock ${role}`, role });
    assert.equal((await service.operator('PUT', '/clock', { advance_seconds: 1 }, { token: body.token })).status, 403);
  }
});

test('a payment exactly at a threshold needs approval, whatever rates lead there', async () => {
  const own = await createWorld(service, 'Exactly', { payment_approvals_enabled: true });
  const token = await own.signIn();
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { VND: 33_000, EUR: 3, JPY: 7 } });
  const group = { name: 'all', users: [{ id: own.contactId }] };
  const other = await post('/contacts', {
    name: 'Second',
    email: `${randomUUID()}@example.com`,
    clients: [{ client_id: own.clientId }],
  });
  const configured = await service.client(token, 'POST', `/approvals-workflow/config?client_id=${own.clientId}`, {
    body: {
      groups: [{ ...group, users: [{ id: own.contactId }, { id: other.body.contact_id }] }],
      ruleset: {
        currency: 'GBP',
        rules: [{ minimum_threshold: 1_000_000, groups: [{ one_of: [{ all_of: ['all'] }] }] }],
      },
    },
  });
  assert.equal(configured.status, 200, configured.text);
  for (const [amount, payment_currency, status] of [
    ['33000000000', 'VND', 'Payment pending of authorization'],
    ['32999999999.99999999', 'VND', 'Validating beneficiary information'],
    ['3000000', 'EUR', 'Payment pending of authorization'],
    ['2999999.99999999', 'EUR', 'Validating beneficiary information'],
    ['1000000', 'GBP', 'Payment pending of authorization'],
  ]) {
    assert.equal((await own.pay({ amount, payment_currency })).body.status, status, `${amount} ${payment_currency}`);
  }
});

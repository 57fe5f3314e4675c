import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Agent, request } from 'undici';
import { ensureDemonstration } from '../../src/sandbox/demonstration/demonstration.ts';
import { DEMO_APPLICATION, DEMO_PASSWORD } from '../../src/sandbox/demonstration/institution.ts';
import { accessToken } from '../world/access-token.ts';
import { DescriptionJudge, type Received } from '../world/description.ts';
import { pain001 } from '../world/iso20022.ts';
import { type Answer, type CallOptions, call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** The descriptions against the service: every operation is called, and every answer must be a described one. */

const CLIENT = 'CLI000001';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const BASIC = `Basic ${Buffer.from(`${DEMO_APPLICATION.client_id}:${DEMO_APPLICATION.client_secret}`).toString('base64')}`;
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

let service: TestService;
before(async () => {
  service = await startTestService();
  await ensureDemonstration(service.service.context);
  // At any hour.
  await service.operator('PUT', '/fx-availability', { mode: 'open' });
});
after(() => service.stop());

type Caller = (method: string, path: string, body?: unknown, options?: CallOptions) => Promise<Answer>;

interface Judged {
  ask: Caller;
  judge: DescriptionJudge;
  /** Each operation that answered 201, and where it says that what it made is read (RFC 9110, 10.2.2). */
  made: Map<string, string>;
}

/** Calls a listener and judges each answer; the address of a 201 must answer. */
async function judged(base: string, name: string, token = ''): Promise<Judged> {
  const judge = new DescriptionJudge(name, (await call(`${base}/openapi.json`, 'GET')).body);
  const made: Judged['made'] = new Map();
  const ask: Caller = async (method, path, body, options = {}) => {
    const answer = await call(`${base}${path}`, method, {
      ...(token && { token }),
      ...(body === undefined ? {} : { body }),
      ...options,
    });
    const operation = judge.check(method, path, answer);
    if (answer.status === 201) made.set(operation, await follow(answer.headers.get('location'), answer.body));
    return answer;
  };
  const follow = async (location: string | null, told: object) => {
    if (location === null) return 'nowhere';
    const { pathname, search } = new URL(location, base);
    const found = await call(`${base}${pathname}${search}`, 'GET', { token });
    assert.equal(found.status, 200, `${location}: ${found.text}`);
    // A creation's answer is the whole record (docs/operator-interface.md).
    const lacking = name === 'operator interface' ? Object.keys(found.body).filter((field) => !(field in told)) : [];
    assert.deepEqual(lacking, [], location);
    return judge.check('GET', pathname, found);
  };
  return { ask, judge, made };
}

async function signIn(ask: Caller): Promise<Answer> {
  const asked = { email: 'ada@ashdown.example', password: DEMO_PASSWORD, client_id: 'demo-app', state: 'of-the-tests' };
  const { body } = await ask('POST', '/authenticate', undefined, {
    raw: form(asked),
    headers: { ...FORM, 'no-redirect': 'application/json' },
  });
  const redirect = { redirect_uri: DEMO_APPLICATION.redirect_uri };
  return ask('POST', '/token', undefined, {
    raw: form({ grant_type: 'authorization_code', code: body.code, ...redirect }),
    headers: { ...FORM, authorization: BASIC },
  });
}

test('the authorization server answers as it is described', async () => {
  const { ask, judge } = await judged(service.auth, 'authorization server');
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    ask('POST', path, undefined, { raw: form(fields), headers: { ...FORM, ...headers } });
  const { body: tokens } = await signIn(ask);
  const bearer = { token: tokens.access_token };
  const asked = { client_id: 'demo-app', scope: 'openid', response_type: 'code', state: 'of-the-tests' };
  const request = new URLSearchParams({ ...asked, redirect_uri: DEMO_APPLICATION.redirect_uri });
  await ask('GET', `/authenticate?${request}`);
  await ask('GET', '/authenticate?client_id=unknown', undefined, { headers: { accept: 'application/json' } });
  await refusedInBothForms(ask);
  const credentials = { email: 'ada@ashdown.example', password: DEMO_PASSWORD, client_id: 'demo-app', state: 's' };
  assert.equal((await post('/login', credentials)).status, 302);
  await post('/authenticate', { ...credentials, password: 'wrong' }, { 'no-redirect': 'application/json' });
  await ask('GET', '/userinfo', undefined, bearer);
  await ask('POST', '/userinfo', undefined, bearer);
  await ask('GET', '/userinfo', undefined, { token: 'unknown' });
  await post('/introspect', { token: tokens.access_token }, { authorization: BASIC });
  await post('/introspect', { token: 'unknown' }, { authorization: BASIC });
  await post('/token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }, { authorization: BASIC });
  await post('/token', { grant_type: 'password' }, { authorization: BASIC });
  await post('/token', { grant_type: 'authorization_code', code: 'used' }, { authorization: BASIC });
  await post('/token', { grant_type: 'authorization_code' });
  await ask('POST', '/token', { grant_type: 'refresh_token' });
  await post('/revoke', { token: tokens.access_token }, { authorization: BASIC });
  await ask('GET', '/jwks');
  await ask('GET', '/.well-known/openid-configuration');
  await ask('GET', '/end-session');
  await post('/end-session', {});
  const sms = { name: 'Tess Text', email: 'tess@ashdown.example', password: DEMO_PASSWORD, phone: '+44 20 7946 0000' };
  await service.operator('POST', '/contacts', { ...sms, second_factor: 'sms', clients: [{ client_id: CLIENT }] });
  const factor = await post(
    '/authenticate',
    { ...credentials, email: sms.email },
    { 'no-redirect': 'application/json' },
  );
  assert.equal(factor.body.second_factor, 'sms', factor.text);
  const step = `client_id=demo-app&code=${factor.body.code}`;
  await ask('GET', `/2fa?${step}`);
  await post(`/send-verification-code?${step}`, {});
  await post(`/verify?${step}`, { verification_code: '000000' }, { authorization: BASIC });
  await service.operator('PUT', '/clock', { advance_seconds: 31 });
  await post(`/send-verification-code?${step}`, {});
  const texts = (await service.operator('GET', '/text-messages')).body;
  const code = /\b\d{6}\b/.exec(texts[0].text)?.[0] as string;
  const verified = await post(
    `/verify?${step}&redirect_uri=${encodeURIComponent(DEMO_APPLICATION.redirect_uri)}`,
    { verification_code: code },
    { authorization: BASIC, 'no-redirect': 'application/json' },
  );
  assert.ok(verified.body.code, verified.text);
  await service.operator('DELETE', '/clock');
  judge.check('POST', '/token/CON000001', await tokenOverMutualTls('CON000001'));
  judge.check('GET', '/info/available-contacts', await overMutualTls('/info/available-contacts'));
  judge.check('POST', '/token/CON000002', await tokenOverMutualTls('CON000002'));
  assert.deepEqual(judge.missing(), []);
});

/** Browsers are refused with a page, programs with JSON, at every address that has pages. */
async function refusedInBothForms(ask: Caller): Promise<void> {
  const unknown = {
    client_id: 'unknown',
    code: 'unknown',
    id_token_hint: 'x',
    post_logout_redirect_uri: 'https://a.example/',
  };
  const calls: [string, string, number][] = [
    ['GET', '/authenticate', 400],
    ['POST', '/authenticate', 400],
    ['POST', '/login', 400],
    ['GET', '/2fa', 400],
    ['POST', '/verify', 401],
    ['POST', '/send-verification-code', 400],
    ['GET', '/end-session', 400],
    ['POST', '/end-session', 400],
  ];
  for (const [method, path, status] of calls) {
    for (const accept of ['text/html', 'application/json', '*/*']) {
      const posted = method === 'POST' ? { raw: form(unknown), headers: { ...FORM, accept } } : { headers: { accept } };
      const answer = await ask(method, `${path}?${form(unknown)}`, undefined, posted);
      assert.equal(answer.status, status, `${method} ${path}`);
      const page = accept === 'text/html' || (accept === '*/*' && method === 'GET');
      assert.match(
        answer.headers.get('content-type') ?? '',
        page ? /^text\/html/ : /^application\/json/,
        `${method} ${path}`,
      );
    }
    if (method === 'GET') continue;
    const foreign = { raw: form(unknown), headers: { ...FORM, origin: 'https://elsewhere.example' } };
    const { status: refused } = await ask(method, `${path}?${form(unknown)}`, undefined, foreign);
    assert.equal(refused, path === '/end-session' ? 400 : 403, path);
  }
}

/** POST {trusted_url}/token/{contact_id} with the sandbox's own certificate. */
async function tokenOverMutualTls(contactId: string): Promise<Received> {
  return overMutualTls(`/token/${contactId}`, form({ grant_type: 'client_credentials' }));
}

async function overMutualTls(path: string, body?: string): Promise<Received> {
  const file = (name: string) => readFileSync(join(service.config.dataDir, 'tls', name));
  const connect = { ca: file('ca.pem'), cert: file('client.pem'), key: file('client-key.pem') };
  const answer = await request(`${service.service.addresses.trusted}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(body !== undefined && FORM), authorization: BASIC },
    ...(body !== undefined && { body }),
    dispatcher: new Agent({ connect }),
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
  return { status: answer.statusCode, headers, text: await answer.body.text() };
}

describe('the client API', () => {
  test('answers as it is described', async () => {
    const authorization = await judged(service.auth, 'authorization server');
    const token = (await signIn(authorization.ask)).body.access_token;
    const { ask: plain, judge, made } = await judged(service.api, 'client API', token);
    const ask: Caller = (method, path, body, options) =>
      plain(method, `${path}${path.includes('?') ? '&' : '?'}client_id=${CLIENT}`, body, options);
    const { body: payments } = await ask('GET', '/payments?status=pending_your_approval');
    const [first, second, third] = payments.map((payment: { payment_id: string }) => payment.payment_id);
    await ask('GET', '/payments?page_size=1000');
    await ask('GET', '/payments?page_size=2000');
    await plain('GET', '/payments');
    await ask('GET', '/payments', undefined, { token: 'unknown' });
    await ask('GET', '/payments', undefined, { headers: { 'x-contact-id': 'CON000002' } });
    await plain('GET', '/payments?client_id=CLI000002');
    await ask('GET', `/payments/${first}`);
    await ask('GET', '/payments/none');
    await ask('GET', `/payments/${first}/approvals`);
    await ask('PATCH', `/payments/${first}?action=authorise`);
    await ask('PATCH', `/payments/${first}?action=authorise`);
    const { body: explained } = await ask('GET', `/payments/${first}/approvals`);
    assert.equal(explained.authorisations.length, 1);
    await ask('DELETE', `/payments/${second}`);
    await ask('DELETE', `/payments/${second}`);
    await ask('POST', `/payments/${third}/challenges`);
    await service.operator('PATCH', '/contacts/CON000001', { second_factor: 'sms', phone: '+44 20 7946 0001' });
    await ask('POST', `/payments/${third}/challenges`);
    await service.operator('PUT', '/clock', { advance_seconds: 31 });
    await ask('POST', '/payments/challenges', { payment_ids: ['none'] });
    await ask('POST', '/payments/challenges', { payment_ids: [third] });
    await service.operator('DELETE', '/clock');
    await service.operator('PATCH', '/contacts/CON000001', { second_factor: 'none' });
    const { body: accounts } = await service.operator('GET', `/accounts?client_id=${CLIENT}`);
    await ask('GET', `/accounts/${accounts[0].account_id}`);
    await ask('GET', '/accounts/nothing');
    await ask('GET', '/accounts/currency-accounts');
    await ask('GET', '/quotes/fx-availability');
    await reads(ask, plain, accounts[0].account_id);
    await exchanges(ask);
    await ask('GET', '/account-details');
    await ask('GET', '/account-details?currency=euro');
    for (const path of ['', '/errors', '/beneficiaries'])
      await ask('GET', `/mass-beneficiaries/3f1b8a52-6c0d-4f5e-9b1e-2f6a7c8d9e01${path}`);
    await ask('GET', `/documents?type=pi&id=${first}`);
    await ask('GET', '/documents?type=pr&id=none');
    const period = { date_from: '2026-01-01', date_to: '2026-01-31', format: 'csv' };
    const { headers } = await ask('POST', '/statements/accounts', period);
    const followed = new URL(headers.get('location') as string);
    await plain('GET', `${followed.pathname}${followed.search}`);
    await service.operator('POST', '/onboarding-events', { client_id: CLIENT, onboarding_status: 'Active' });
    await ask('GET', `/onboarding-events/${CLIENT}`);
    await ask('GET', '/onboarding-events/none');
    await ask('POST', '/statements/accounts', { date_from: '2026-01-01', date_to: '2036-01-31' });
    await ask('POST', '/statements/accounts', { date_from: 'today' });
    await ask('POST', '/statements/accounts', undefined, { raw: 'x', headers: { 'content-type': 'text/plain' } });
    await ask('GET', '/approvals-workflow/settings');
    await ask('GET', '/approvals-workflow/config');
    const group = { name: 'A', scope: 'payments', users: [{ id: 'CON000001', name: 'Ada', email: 'ada@a.example' }] };
    const rules = [{ minimum_threshold: 100.5, groups: [{ one_of: [{ all_of: ['A'] }] }] }];
    const configuration = { groups: [group], ruleset: { currency: 'GBP', rules } };
    await ask('POST', '/approvals-workflow/config?dry_run=true', { ...configuration, sample_amounts: [1, 1_000] });
    await ask('POST', '/approvals-workflow/config', configuration);
    await ask('POST', '/approvals-workflow/config', { groups: [], ruleset: { currency: 'GBP', rules } });
    await ask('GET', '/approvals-workflow/config');
    await ask('GET', '/approvals-workflow/config/versions');
    await ask('DELETE', '/multipayments/MP000007');
    await ask('DELETE', '/multipayments/MP000007');
    await beneficiaries(ask);
    await orders(ask);
    await webhooks(ask);
    await ask('POST', '/sandbox/trigger', { event: 'PAYMENT_STATUS_CHANGE:RETURNED' });
    await ask('POST', '/sandbox/trigger', { event: 'NOTHING' });
    const { body: created } = await ask('POST', '/sandbox/payments', { approval: 'needed' });
    await ask('POST', `/sandbox/payments/${created.payment_id}/advance`, { to: 'Payment complete' });
    await ask('POST', `/sandbox/trades/${created.trade_id}/advance`, {});
    await ask('POST', '/sandbox/trades/none/advance', { to: 'Closed' });
    await ask('PUT', '/sandbox/exchange-rate', { sell_currency: 'GBP', buy_currency: 'EUR', rate: 1.17 });
    await ask('GET', '/sandbox/requests');
    await ask('POST', '/sandbox/reset');
    assert.deepEqual(judge.missing(), STREAMS);
    assert.deepEqual(Object.fromEntries(made), {
      'POST /beneficiaries': 'GET /beneficiaries/{beneficiary_id}',
      'POST /mass-payments/{mass_payment_id}/challenges': 'nowhere',
      'POST /multipayments': 'nowhere',
      'POST /payments': 'nowhere',
      'POST /payments/challenges': 'nowhere',
      'POST /payments/{payment_id}/challenges': 'nowhere',
      'POST /quotes': 'GET /quotes/{quote_id}',
      'POST /trades': 'GET /trades/{trade_id}',
      'POST /trades/{trade_id}/drawdowns': 'GET /trades/{trade_id}',
      'POST /sandbox/payments': 'GET /payments/{payment_id}',
      'POST /sandbox/trigger': 'GET /payments/{payment_id}',
    });
  });

  /** Answers that do not end; test/webhooks/stream.test.ts and test/http/graphql/stream.test.ts read them. */
  const STREAMS = ['GET /webhooks/graphql/stream', 'GET /webhooks/stream'];
});

async function beneficiaries(ask: Caller): Promise<void> {
  const places = { country_code: 'DE', bank_country_code: 'DE', bank_currency_code: 'EUR' };
  const order = { ...places, name: 'Nordwind GmbH', iban: 'DE02120300000000202051' };
  await ask('POST', '/beneficiaries', { ...order, iban: 'DE', nme: 'x' });
  await ask('POST', '/beneficiaries?validate_only=true', order);
  const { body: made } = await ask('POST', '/beneficiaries', order);
  await ask('POST', '/beneficiaries', order);
  for (const query of ['', '?validate_only=true'])
    await ask('POST', `/mass-beneficiaries${query}`, [order, { iban: 7 }]);
  await ask('POST', '/mass-beneficiaries', {});
  await ask('GET', '/beneficiaries?name=NORDWIND%20GMBH');
  await ask('POST', '/beneficiaries/search', { iban: order.iban });
  await ask('POST', '/beneficiaries/search', { iban: 7 });
  const one = `/beneficiaries/${made.beneficiary_id}`;
  await ask('GET', one);
  await ask('PATCH', `${one}?validate_only=true`, { city: 'Berlin' });
  await ask('PATCH', one, { city: 'Berlin', iban: null });
  await ask('PATCH', one, { city: 'Berlin' });
  await ask('DELETE', one);
  await ask('DELETE', one);
  await ask('GET', '/metadata/beneficiary?country=GB');
  await ask('GET', '/metadata/beneficiary?country=UK');
}

/** What a client looks at before it orders. */
async function reads(ask: Caller, plain: Caller, accountId: string): Promise<void> {
  await plain('GET', '/ping');
  await plain('GET', '/clients');
  await plain('GET', '/clients', undefined, { token: 'unknown' });
  await ask('GET', '/contacts');
  await ask('GET', '/contacts/CON000002');
  await ask('GET', '/contacts/none');
  await ask('GET', '/accounts?currencies=EUR,GBP');
  await ask('GET', '/accounts?currencies=euro');
  await ask('GET', '/balances');
  await ask('GET', '/balances?balance_types=Nothing');
  await ask('GET', `/accounts/${accountId}/balances`);
  await ask('GET', '/accounts/none/balances');
  const { body: transactions } = await ask('GET', '/transactions?currencies=EUR,GBP&order=asc&page_size=2');
  await ask('GET', '/transactions');
  const { account_id: account, transaction_id: transaction } = transactions[0];
  await ask(
    'GET',
    `/accounts/${account}/transactions?transaction_type=incoming&from_value_datetime=2026-01-01T00:00:00`,
  );
  await ask('GET', `/accounts/${account}/transactions?from_value_datetime=today`);
  await ask('GET', `/accounts/${account}/transactions/${transaction}`);
  await ask('GET', `/accounts/${account}/transactions/none`);
  // A statement covers a year at most.
  const statement = { from_value_datetime: new Date(Date.now() - 30 * 86_400_000).toISOString() };
  const { body: requested } = await ask('POST', `/accounts/${account}/statements/file?format=csv`, statement);
  const { pathname, search } = new URL(requested.url);
  await until(async () => (await plain('GET', `${pathname}${search}`)).status === 200);
  await ask('POST', `/accounts/${account}/statements/file`, {});
  await ask('GET', `/accounts/${account}/statements/none/file`);
  await ask('GET', '/currencies?trade_type=spot');
  await ask('GET', '/currencies?trade_type=swap');
}

async function orders(ask: Caller): Promise<void> {
  const { body: accounts } = await ask('GET', '/accounts/currency-accounts');
  const { account_id: account } = accounts.find(({ currency }: { currency: string }) => currency === 'EUR');
  const { body: payees } = await ask('GET', '/beneficiaries');
  const payee = payees.find(({ bank_accounts: [bank] }: Payee) => bank?.bank_currency_code === 'EUR');
  const payment = {
    beneficiary_id: payee.beneficiary_id,
    amount: 1,
    payment_date: '2026-12-01',
    reference: 'Invoice 1',
  };
  const order = { funding_account_id: account, reason: 'other', payments: [payment] };
  await ask('POST', '/payments', { ...order, reason: 'fun' });
  await ask('POST', '/payments', { ...order, quote_id: 'none' });
  await ask('POST', '/payments?validate_only=true', order);
  const { body: made } = await ask('POST', '/payments', order);
  const ids = { payment_ids: [made[0].payment_id] };
  await ask('PATCH', '/payments?action=authorise', ids);
  await ask('PATCH', '/payments?action=reject', { payment_ids: [] });
  await ask('PATCH', `/payments/${made[0].payment_id}?action=provide_information`, { information: 'Known' });
  await many(ask, account, payee.beneficiary_id);
}

async function many(ask: Caller, account: number, beneficiary_id: string): Promise<void> {
  const row = { payment_currency: 'EUR', payment_amount: 1, payment_reference: 'Invoice 1', direction: 'buy' };
  const good = { ...row, trade_type: 'spot', beneficiary_id };
  const address = `/multipayments?sell_currency=EUR&funding_account_id=${account}&reason=other`;
  await ask('POST', `${address}&validate_only=true`, [good]);
  await ask('POST', address, [good]);
  await ask('POST', address, [good, { ...good, beneficiary_id: 'none' }]);
  await ask('POST', address, [{ ...good, beneficiary_id: 'none' }]);
  await ask('POST', address, [{ ...good, note: 1 }]);
  await ask('POST', '/multipayments', [good]);
  const file = { auto_commit: false, sell_currency: 'EUR', funding_account_id: account, reason: 'other' };
  const rows = [good, { ...good, beneficiary_id: 'none' }];
  const order = { ...file, external_reference_id: 'FILE-1', payment_instructions: rows };
  await ask('POST', '/mass-payments', { ...order, auto_commit: 1 });
  const { body: taken } = await ask('POST', '/mass-payments', order);
  await ask('POST', '/mass-payments', order);
  const path = `/mass-payments/${taken.mass_payment_id}`;
  await until(async () => (await ask('GET', path)).body.mass_payment_status === 'Processed');
  await ask('GET', '/mass-payments/8a6e0804-2bd0-4672-b79d-d97027f9071a');
  await ask('GET', '/mass-payments?mass_payment_status=Processed');
  await ask('GET', `${path}/payments-received`);
  await ask('GET', `${path}/errors`);
  await service.operator('PATCH', '/contacts/CON000001', { second_factor: 'sms', phone: '+44 20 7946 0001' });
  await service.query('delete from step_up_texts');
  await ask('POST', `${path}/challenges`);
  await service.operator('PATCH', '/contacts/CON000001', { second_factor: 'none' });
  await ask('POST', `${path}/challenges`);
  await ask('POST', '/mass-payments/8a6e0804-2bd0-4672-b79d-d97027f9071a/challenges');
  await ask('POST', `${path}/confirm`);
  await ask('POST', `${path}/confirm`, { maximum_sell_amount: 'much' });
  await ask('DELETE', path);
  const { body: other } = await ask('POST', '/mass-payments', { ...order, external_reference_id: 'FILE-2' });
  const second = `/mass-payments/${other.mass_payment_id}`;
  await until(async () => (await ask('GET', second)).body.mass_payment_status === 'Processed');
  await ask('DELETE', second);
  const debtor = `<Id><Othr><Id>${account}</Id></Othr></Id>`;
  const xml = pain001({ messageId: 'MSG-1', blocks: [{ debtor, day: '2020-01-01', transfers: [{}] }] });
  const headers = { 'content-type': 'application/xml' };
  for (const raw of [xml, xml, 'no XML']) await ask('POST', '/payment-initiations', undefined, { raw, headers });
  await ask('POST', '/payment-initiations', {});
  await ask('GET', '/payment-initiations/MSG-1/status');
  await ask('GET', '/payment-initiations/MSG-2/status');
}

interface Payee {
  bank_accounts: { bank_currency_code: string }[];
}

async function exchanges(ask: Caller): Promise<void> {
  const wanted = { amount: 100, operation: 'sell', buy_currency: 'EUR', sell_currency: 'GBP', trade_type: 'spot' };
  await ask('POST', '/quotes?quote_type=estimate', wanted);
  await ask('POST', '/quotes?quote_type=estimate', { amount: 'much', currency: 'EUR' });
  const { body: quote } = await ask('POST', '/quotes?quote_type=quote', wanted);
  await ask('GET', `/quotes/${quote.quote_id}`);
  await ask('GET', '/quotes/none');
  const reason = 'payment_for_goods';
  const { body: booked } = await ask('POST', `/trades?quote_id=${quote.quote_id}`, { reason });
  await ask('POST', `/trades?quote_id=${quote.quote_id}`, { reason });
  await ask('POST', '/trades?quote_id=none', { reason: 'fun', whim: 1 });
  await ask('GET', `/trades/${booked.trade_id}/funds`);
  await ask('GET', '/trades?status=Created,Closed');
  await ask('GET', '/trades?status=none');
  await ask('GET', '/trades/none');
  const { body: forward } = await service.operator('POST', '/trades', {
    ...{ client_id: CLIENT, contact_id: 'CON000001', trade_type: 'window_forward', rate: 1.2 },
    ...{ buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 1000 },
  });
  await ask('POST', `/trades/${forward.trade_id}/drawdowns`, { buy_amount: 100, reason });
  await ask('POST', `/trades/${booked.trade_id}/drawdowns`, { buy_amount: 100, reason });
}

async function webhooks(ask: Caller): Promise<void> {
  const query = `mutation { createSubscription(input: {subscription: {url: "http://127.0.0.1:9/", types: [PAYMENT_STATUS_CHANGE]}})
    { subscription { id } } }`;
  const { body } = await ask('POST', '/webhooks/graphql', { query });
  await ask('POST', '/webhooks/graphql', { query: '{ nonsense }' });
  await ask('POST', `/webhooks/ping/${body.data.createSubscription.subscription.id}`);
  await ask('POST', '/webhooks/ping/8a6e0804-2bd0-4672-b79d-d97027f9071a');
}

describe('the operator interface', () => {
  test('answers as it is described', async () => {
    const { ask, judge, made } = await judged(service.operatorUrl, 'operator interface', service.operatorToken);
    await clients(ask);
    await money(ask);
    await institution(ask);
    await watching(ask);
    assert.deepEqual(judge.missing(), []);
    assert.deepEqual(Object.fromEntries(made), {
      'POST /account-details': 'GET /account-details/{account_details_id}',
      'POST /accounts': 'GET /accounts/{account_id}',
      'POST /applications': 'GET /applications/{client_id}',
      'POST /applications/{client_id}/secret': 'nowhere',
      'POST /beneficiaries': 'GET /beneficiaries/{beneficiary_id}',
      'POST /clients': 'GET /clients/{client_id}',
      'POST /contacts': 'GET /contacts/{contact_id}',
      'POST /currency-accounts': 'GET /currency-accounts/{account_id}',
      'POST /mass-beneficiaries': 'GET /mass-beneficiaries/{mass_beneficiary_id}',
      'POST /multipayments': 'GET /multipayments/{multipayment_id}',
      'POST /onboarding-events': 'nowhere',
      'POST /operator-tokens': 'nowhere',
      'POST /payments': 'GET /payments/{payment_id}',
      'POST /trades': 'GET /trades/{trade_id}',
      'POST /transactions': 'GET /transactions/{id}',
    });
  });
});

/** Lists, one of them, and an unknown one. */
async function read(ask: Caller, list: string, id: string): Promise<void> {
  const { body } = await ask('GET', list);
  assert.ok(body.length > 0, `${list} is empty`);
  const path = list.split('?')[0] as string;
  await ask('GET', `${path}/${body[0][id]}`);
  await ask('GET', `${path}/8a6e0804-2bd0-4672-b79d-d97027f9071a`);
}

async function clients(ask: Caller): Promise<void> {
  const { body: client } = await ask('POST', '/clients', { client_name: 'Acme Ltd', became_client: '2026-01-31' });
  const clientId = client.client_id;
  await ask('POST', '/clients', { client_id: clientId, client_name: 'Acme Ltd' });
  await ask('POST', '/clients', { client_name: 7 });
  await ask('POST', '/clients', undefined, { raw: '{', headers: { 'content-type': 'application/json' } });
  await ask('GET', '/clients', undefined, { token: 'unknown' });
  await ask('GET', '/clients?nothing=1');
  await read(ask, '/clients', 'client_id');
  await ask('PATCH', `/clients/${clientId}`, { account_number: '10001' });
  await ask('GET', '/approvals-configurations/CLI000002');
  await ask('GET', `/approvals-configurations/${clientId}`);
  const person = { name: 'Ida Holt', email: 'ida@acme.example', clients: [{ client_id: clientId }] };
  const key = { headers: { 'idempotency-key': 'of-the-tests' } };
  const { body: contact } = await ask('POST', '/contacts', { ...person, second_factor: 'totp' }, key);
  assert.ok(contact.totp);
  assert.equal((await ask('POST', '/contacts', { ...person, second_factor: 'totp' }, key)).status, 201);
  await ask('POST', '/contacts', person, key);
  await read(ask, '/contacts', 'contact_id');
  await ask('PATCH', `/contacts/${contact.contact_id}`, { phone: '+44 20 7946 0000' });
  await ask('GET', `/contacts/${contact.contact_id}/lock`);
  await ask('POST', `/contacts/${contact.contact_id}/unlock`);
  await ask('POST', `/contacts/${contact.contact_id}/invite`);
  await ask('GET', `/clients/${CLIENT}/daily-use`);
  await ask('GET', '/clients/none/daily-use');
  await ask('POST', `/contacts/${contact.contact_id}/erase`);
  await ask('PATCH', `/contacts/${contact.contact_id}`, { status: 'disabled' });
  const { body: begun } = await ask('POST', `/contacts/${contact.contact_id}/erase`);
  await ask('GET', `/erasures/${begun.erasure_id}`);
  const { body: made } = await ask('POST', '/applications', { name: 'Desk', redirect_uris: ['https://desk.example/'] });
  await read(ask, '/applications', 'client_id');
  await ask('PATCH', `/applications/${made.client_id}`, { refresh_token_days: 7 });
  await ask('POST', `/applications/${made.client_id}/secret`, { overlap_seconds: 60 });
  await ask('POST', '/onboarding-events', { client_id: clientId, onboarding_status: 'Active' });
  const account = { client_id: clientId, currency: 'EUR', account_details: [{ account_name: 'Acme' }] };
  const { body: opened } = await ask('POST', '/accounts', account);
  await read(ask, '/accounts', 'account_id');
  await ask('PATCH', `/accounts/${opened.account_id}`, { status: 'Deleted' });
  await ask('PATCH', `/accounts/${opened.account_id}`, { status: 'Disabled' });
}

/** Of a payment from an account that was sent. */
async function releaseHold(ask: Caller): Promise<void> {
  const { rows } = await service.query(
    `select a.account_id as account, b.beneficiary_id as payee from currency_accounts a
     join beneficiaries b on b.client_id = a.client_id and b.currency = 'EUR' and b.active and not b.blocked
     where a.client_id = $1 and a.currency = 'EUR' limit 1`,
    [CLIENT],
  );
  const token = await accessToken(service, 'CON000001');
  const payment = { beneficiary_id: rows[0].payee, amount: 1, payment_date: '2026-12-01', reference: 'Invoice 1' };
  const made = await service.client(token, 'POST', `/payments?client_id=${CLIENT}`, {
    body: { funding_account_id: Number(rows[0].account), reason: 'other', payments: [payment] },
  });
  assert.equal(made.status, 201, made.text);
  const id = made.body[0].payment_id;
  await service.client(token, 'POST', `/sandbox/payments/${id}/advance?client_id=${CLIENT}`, {
    body: { to: 'Waiting for payment date' },
  });
  await ask('POST', `/payments/${id}/actions`, { action: 'send' });
  const { body: holds } = await ask('GET', `/holds?client_id=${CLIENT}&state=open`);
  await ask('POST', `/holds/${holds.at(-1).hold_id}/release`, { reason: 'Settled by hand' });
}

async function money(ask: Caller): Promise<void> {
  const of = { client_id: CLIENT };
  const { body: account } = await ask('POST', '/currency-accounts', { ...of, currency: 'NOK' });
  await ask('POST', '/currency-accounts', { ...of, currency: 'NOK' });
  await ask('GET', `/currency-accounts?client_id=${CLIENT}`);
  await ask('GET', `/currency-accounts/${account.account_id}`);
  await ask('GET', '/holds?state=open');
  await ask('GET', `/holds?client_id=${CLIENT}&overdue=true`);
  await ask('POST', '/holds/none/release', { reason: 'Settled by hand' });
  await releaseHold(ask);
  const booking = { ...of, currency_account_id: account.account_id, kind: 'CREDIT_TRANSACTION' };
  const party = { account_name: 'Müller GmbH', iban: 'DE89370400440532013000' };
  await ask('POST', '/transactions', {
    ...booking,
    amount: { amount: '10.50', currency: 'NOK' },
    debtor_account: party,
  });
  await ask('POST', '/transactions', { ...booking, amount: { amount: 'x', currency: 'NOK' } });
  await read(ask, `/transactions?client_id=${CLIENT}`, 'transaction_id');
  const { body: payee } = await ask('POST', '/beneficiaries', {
    ...of,
    beneficiary_name: 'Müller GmbH',
    currency: 'EUR',
  });
  await ask('POST', '/beneficiaries', { ...of, beneficiary_name: 'Müller GmbH', iban: 'DE00' });
  await read(ask, '/beneficiaries', 'beneficiary_id');
  await ask('PATCH', `/beneficiaries/${payee.beneficiary_id}`, { beneficiary_blocked: true });
  const by = { ...of, contact_id: 'CON000001' };
  const pair = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: '1000.10', rate: 1.17 };
  const { body: trade } = await ask('POST', '/trades', { ...by, ...pair });
  await read(ask, '/trades', 'trade_id');
  await ask('PATCH', `/trades/${trade.trade_id}`, { status: 'Funds In Full' });
  const order = {
    beneficiary_id: payee.beneficiary_id,
    amount: 10.5,
    payment_currency: 'EUR',
    payment_date: '2030-01-31',
  };
  const { body: payment } = await ask('POST', '/payments', { ...by, ...order, trade_id: trade.trade_id });
  await ask('POST', '/payments', { ...by, ...order, trade_id: 'none' });
  await ask('GET', '/payments?client_id=CLI000002&page_size=1000');
  await ask('GET', '/payments');
  await ask('GET', `/payments/${payment.payment_id}`);
  await ask('GET', '/payments/none');
  await ask('POST', `/payments/${payment.payment_id}/actions`, { action: 'authorise', contact_id: 'CON000003' });
  await ask('POST', `/payments/${payment.payment_id}/actions`, { action: 'complete' });
  await ask('POST', `/payments/${payment.payment_id}/actions`, { action: 'cancel' });
  await ask('GET', `/payments/${payment.payment_id}/timeline`);
  const { body: multi } = await ask('POST', '/multipayments', {
    ...by,
    trades: [pair],
    payments: [{ ...order, trade: 0 }],
  });
  await ask('GET', `/multipayments/${multi.multipayment}`);
  await ask('GET', '/multipayments/none');
  const { body: mass } = await ask('POST', '/mass-beneficiaries', { ...of, status: 'queued' });
  const errors = [{ code: 'invalid_iban', message: 'The IBAN is not valid', details: '', request_index: 17 }];
  await ask('PATCH', `/mass-beneficiaries/${mass.mass_beneficiary_id}`, { status: 'processing', errors });
  await ask('PATCH', `/mass-beneficiaries/${mass.mass_beneficiary_id}`, { status: 'queued' });
  await ask('GET', `/mass-beneficiaries/${mass.mass_beneficiary_id}`);
}

async function institution(ask: Caller): Promise<void> {
  await ask('PUT', '/fx-availability', { mode: 'open', holidays: ['2026-12-25'] });
  await ask('PUT', '/fx-availability', { mode: 'sometimes' });
  await ask('GET', '/fx-availability');
  await ask('GET', '/fx-availability?unknown=1');
  await ask('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { USD: '1.2512345678', EUR: 1.17 } });
  await ask('GET', '/exchange-rates');
  await settings(ask);
  await ask('POST', '/imports/clients', undefined, {
    raw: '{"client_name": "Imported Ltd"}\n{"client_name": 7}\n',
    headers: { 'content-type': 'application/x-ndjson' },
  });
  await read(ask, '/imports', 'import_id');
  for (const kind of ['contacts', 'beneficiaries', 'trades', 'payments', 'transactions', 'payment-actions'])
    await ask('POST', `/imports/${kind}`, undefined, {
      raw: '\n',
      headers: { 'content-type': 'application/x-ndjson' },
    });
  const { body: token } = await ask('POST', '/operator-tokens', { name: 'reader', scopes: ['read'] });
  await ask('POST', '/operator-tokens', { name: 'reader', role: 'core' });
  await ask('POST', '/clients', { client_name: 'Acme' }, { token: token.token });
  await ask('GET', '/operator-tokens');
  await ask('DELETE', `/operator-tokens/${token.id}`);
  await ask('DELETE', `/operator-tokens/${token.id}`);
  await ask('PUT', '/clock', { advance_seconds: 1 });
  await ask('PUT', '/clock', {});
  await ask('GET', '/clock');
  await ask('GET', '/clock?unknown=1');
  await ask('DELETE', '/clock');
}

async function watching(ask: Caller): Promise<void> {
  const token = (await signIn((await judged(service.auth, 'authorization server')).ask)).body.access_token;
  const period = { date_from: '2026-01-01', date_to: '2026-01-31' };
  await service.client(token, 'POST', `/statements/accounts?client_id=${CLIENT}`, { body: period });
  const [{ id: subscription }] = (await ask('GET', '/subscriptions')).body;
  await ask('POST', `/subscriptions/${subscription}/replay`, { since: '2026-01-01T00:00:00Z' });
  await ask('POST', `/subscriptions/${subscription}/replay`, {});
  const { body: notifications } = await ask('GET', `/notifications?client_id=${CLIENT}`);
  await ask('GET', `/notifications/${notifications[0].id}`);
  await ask('POST', `/notifications/${notifications[0].id}/redeliver`);
  await ask('POST', '/notifications/8a6e0804-2bd0-4672-b79d-d97027f9071a/redeliver');
  await read(ask, '/statements', 'statement_id');
  const { statement_id: statement } = await until(async () => {
    const [newest] = (await ask('GET', '/statements')).body;
    return newest.status === 'sent' && newest;
  });
  await ask('POST', `/statements/${statement}/send`);
  const { rows: files } = await service.query(
    `insert into mass_payments (mass_payment_id, client_id, external_reference_id, status, auto_commit, sell_currency, reason, created_by,
       created_at, received) values (gen_random_uuid(), $1, 'FILE', 'Processed', false, 'EUR', 'other', 'CON000001', now(), 0)
     returning mass_payment_id as id`,
    [CLIENT],
  );
  await ask('GET', '/mass-payments');
  for (const id of [files[0].id, '8a6e0804-2bd0-4672-b79d-d97027f9071a'])
    for (const path of ['', '/errors']) await ask('GET', `/mass-payments/${id}${path}`);
  await ask('GET', '/requests?status=4xx');
  await ask('GET', '/sign-ins');
  await ask('GET', '/health-history');
  await ask('GET', '/health-history?hours=0');
  await ask('GET', '/mailbox');
  await ask('GET', '/text-messages');
  const { body: page } = await ask('GET', '/changes?limit=5');
  await ask('GET', '/changes?after=nonsense');
  await ask('GET', '/changes?consumer=nobody');
  await ask('PUT', '/change-consumers/core', { cursor: page.cursor });
  await ask('GET', '/change-consumers');
  await ask('DELETE', '/change-consumers/core');
  await ask('DELETE', '/change-consumers/core');
  const today = (await ask('GET', '/clock')).body.now.slice(0, 10);
  await ask('GET', `/reconciliation?date=${today}`);
  await ask('GET', '/reconciliation?date=2026-13-01');
  await ask('GET', '/audit?page_size=1000');
  await ask('GET', '/audit?after=0&limit=10');
  await ask('GET', '/audit?page=60000');
  await ask('GET', '/audit/heads');
  const { body: proof } = await ask('GET', '/audit/verify');
  await ask('GET', `/audit/verify?head=${proof.head.position}:${proof.head.hash}`);
  for (const path of ['/health/live', '/health/ready', '/metrics']) await ask('GET', path, undefined, { headers: {} });
}

/** What the institution sets for currencies, prices and schemes, and where clients pay in. */
async function settings(ask: Caller): Promise<void> {
  const bank = { currency: 'EUR', country: 'GB', financial_institution_name: 'A bank', account_holder_name: 'Ashdown' };
  const domestic = { account_number: '31926819', bank_identifier: '601613', bank_identifier_type: 'GBDSC' };
  const { body: details } = await ask('POST', '/account-details', { ...bank, client_id: CLIENT, domestic });
  await ask('POST', '/account-details', bank);
  await ask('PATCH', `/account-details/${details.account_details_id}`, { bank_city: 'London' });
  await ask('PATCH', '/account-details/none', {});
  await read(ask, '/account-details?currency=EUR', 'account_details_id');
  const holidays = [{ date: '2026-12-25', name: 'Christmas Day' }];
  await ask('PUT', '/currencies/EUR', { cutoff_time: '15:30', holidays, minimum: 1, maximum: 1_000_000.5 });
  await ask('PUT', '/currencies/EUR', { weekend: [8], cutoff: 1 });
  await ask('GET', '/currencies/EUR');
  await ask('GET', '/currencies/XQQ');
  await ask('GET', '/currencies');
  const spreads = [{ sell_currency: 'GBP', buy_currency: 'EUR', spread_bps: 40 }];
  await ask('PUT', '/pricing', { spreads });
  await ask('PUT', '/pricing', { quote_seconds: 1 });
  await ask('GET', '/pricing');
  await ask('GET', '/pricing?unknown=1');
  const points = [{ days: 30, points: -0.0012 }];
  await ask('PUT', '/forward-points', { sell_currency: 'GBP', buy_currency: 'EUR', points });
  await ask('PUT', '/forward-points', { sell_currency: 'GBP', buy_currency: 'GBP', points });
  await ask('GET', '/forward-points');
  const { body: tokens } = await signIn((await judged(service.auth, 'authorization server')).ask);
  const exchange = { amount: 100, operation: 'sell', buy_currency: 'EUR', sell_currency: 'GBP', trade_type: 'spot' };
  const asked = `/quotes?client_id=${CLIENT}&quote_type=quote`;
  const { body: quote } = await service.client(tokens.access_token, 'POST', asked, { body: exchange });
  await ask('GET', `/quotes/${quote.quote_id}`);
  await ask('GET', '/quotes?status=open');
  await ask('GET', '/quotes/none');
  const currencies = [{ currency: 'EUR' }, { currency: 'GBP', pay_allowed: false }];
  await ask('PUT', `/clients/${CLIENT}/pricing`, { spreads, currencies, default_currency: 'EUR' });
  await ask('GET', `/clients/${CLIENT}/pricing`);
  await ask('PUT', `/clients/${CLIENT}/pricing`, {});
  await ask('GET', '/clients/NOBODY/pricing');
  await ask('PUT', '/payment-schemes', { rules: [{ payment_currency: 'EUR', maximum: 10, scheme: 'SEPA' }] });
  await ask('PUT', '/payment-schemes', {});
  await ask('GET', '/payment-schemes');
  await ask('GET', '/payment-schemes?unknown=1');
}

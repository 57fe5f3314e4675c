import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** The money that a client looks at: accounts, balances, transactions, currencies, and the people around it. */
let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let stranger: typeof world;
let token: string;
/** The number of the client's EUR account, and the UUID of its EUR account with an IBAN. */
let eur: number;
let uuid: string;
const ids: string[] = [];

before(async () => {
  service = await startTestService();
  world = await createWorld(service, 'Acme Ltd');
  stranger = await createWorld(service, 'Stranger Ltd');
  token = await world.signIn();
  eur = await open(world.clientId, 'EUR');
  await open(world.clientId, 'JPY');
  const account = { client_id: world.clientId, currency: 'EUR' };
  uuid = (await made('/accounts', account)).account_id;
  for (const [kind, amount, day] of [
    ['CREDIT_INCOMING_TRANSACTION', '1000.00', '2026-03-02'],
    ['DEBIT_TRANSACTION', '250.5', '2026-03-01'],
    ['CREDIT_TRANSACTION', '10', '2026-03-01'],
    ['CREDIT_MARGIN_TRANSACTION', '0.50', '2026-03-03'],
  ] as const)
    ids.push(await book(eur, kind, amount, { value_datetime: `${day}T00:00:00Z` }));
});
after(() => service?.stop());

async function made(path: string, body: object) {
  const answer = await service.operator('POST', path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}
const open = async (client_id: string, currency: string): Promise<number> =>
  (await made('/currency-accounts', { client_id, currency })).account_id;

async function book(account: number, kind: string, amount: string, fields: object = {}, currency = 'EUR') {
  const money = { amount, currency };
  const of = { client_id: world.clientId, currency_account_id: account };
  return (await made('/transactions', { ...of, kind, amount: money, ...fields })).transaction_id as string;
}

const ask = (path: string, of = world.clientId) =>
  service.client(token, 'GET', `${path}${path.includes('?') ? '&' : '?'}client_id=${of}`);
async function get(path: string) {
  const { status, body, text } = await ask(path);
  assert.equal(status, 200, text);
  return body;
}
async function refused(path: string, status: number, code: string) {
  const answer = await ask(path);
  assert.deepEqual([answer.status, answer.body.code], [status, code], `${path}: ${answer.text}`);
}

describe('people', () => {
  test('a ping needs no token, and a contact reads its clients without naming one', async () => {
    const ping = await fetch(`${service.api}/ping`);
    assert.deepEqual([ping.status, await ping.text()], [200, '']);
    const clients = await service.client(token, 'GET', '/clients');
    const permissions = [
      ...['can_authorise_payments', 'can_manage_payments', 'can_manage_multipayments'],
      ...['can_manage_permissions', 'can_manage_webhooks'],
    ];
    const own = { client_id: world.clientId, client_name: 'Acme Ltd', status: 'Active', permissions };
    assert.deepEqual(clients.body, [own]);
    assert.equal((await fetch(`${service.api}/clients`)).status, 401);
  });

  test('a disabled client is told as blocked', async () => {
    const other = await createWorld(service, 'Blocked Ltd');
    const theirs = await other.signIn();
    await service.operator('PATCH', `/clients/${other.clientId}`, { status: 'disabled' });
    const read = async () => (await service.client(theirs, 'GET', '/clients')).body[0].status;
    const { until } = await import('../world/until.ts');
    await until(async () => (await read()) === 'Blocked');
  });

  test('the enabled contacts of the client are seen, with their permissions', async () => {
    const hired = await world.hire('Grace', { language: 'de' }, ['can_create_payments']);
    const gone = await world.hire('Gone', { status: 'disabled' });
    const contacts = await get('/contacts');
    assert.deepEqual(
      contacts.map((each: { contact_id: string }) => each.contact_id).sort(),
      [world.contactId, hired.contactId].sort(),
    );
    assert.deepEqual(await get(`/contacts/${hired.contactId}`), {
      ...{ contact_id: hired.contactId, name: 'Grace', email_address: hired.email, language: 'de' },
      ...{ can_authorise_payments: false, can_manage_payments: false, can_manage_multipayments: false },
      ...{ can_manage_permissions: false, can_manage_webhooks: false, can_manage_beneficiaries: false },
      ...{ can_create_payments: true, can_trade: false },
    });
    for (const id of [gone.contactId, stranger.contactId, 'none'])
      await refused(`/contacts/${id}`, 404, 'contact_not_found');
  });
});

describe('accounts and balances', () => {
  test('the accounts come by currency, and can be chosen', async () => {
    await made('/accounts', { client_id: world.clientId, currency: 'CHF' });
    const currencies = async (query: string) =>
      (await get(`/accounts${query}`)).map((each: { currency: string }) => each.currency);
    assert.deepEqual(await currencies(''), ['CHF', 'EUR']);
    assert.deepEqual(await currencies('?currencies=EUR,XXX'), ['EUR']);
    await refused('/accounts?currencies=EUR,', 400, 'invalid_parameter');
  });

  test('each currency account has three balances', async () => {
    const all = await get('/balances');
    // Numbers with the decimals of their currency.
    assert.match((await ask('/balances?currencies=EUR')).text, /"amount":760\.00,.*"amount":0\.00,/);
    assert.deepEqual(
      all
        .map(({ datetime, ...rest }: Record<string, unknown>) => {
          assert.match(String(datetime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[01]:00$/);
          return [rest.account_id, rest.type, rest.amount, rest.credit_debit_indicator];
        })
        .slice(0, 3),
      [
        [String(eur), 'InterimAvailable', { amount: 760, currency: 'EUR' }, 'Credit'],
        [String(eur), 'Available', { amount: 760, currency: 'EUR' }, 'Credit'],
        [String(eur), 'RequiredFunds', { amount: 0, currency: 'EUR' }, 'Credit'],
      ],
    );
    const yen = all
      .slice(3)
      .map((each: { type: string; amount: { amount: number } }) => [each.type, each.amount.amount]);
    assert.deepEqual(yen, [
      ['InterimAvailable', 0],
      ['Available', 0],
      ['RequiredFunds', 0],
    ]);
    const chosen = await get('/balances?currencies=JPY&balance_types=Available,RequiredFunds');
    assert.deepEqual(
      chosen.map((each: { type: string }) => each.type),
      ['Available', 'RequiredFunds'],
    );
    for (const named of [eur, uuid, uuid.toUpperCase()]) {
      const own = await get(`/accounts/${named}/balances`);
      assert.deepEqual(
        own.map((each: { account_id: string }) => each.account_id),
        Array(3).fill(String(eur)),
      );
    }
    await refused('/balances?balance_types=Ledger', 400, 'invalid_parameter');
    const foreign = await open(stranger.clientId, 'EUR');
    const { account_id: lonely } = await made('/accounts', { client_id: world.clientId, currency: 'SEK' });
    for (const named of [foreign, lonely, randomUUID(), 'none', '0', '99999999999999999999'])
      await refused(`/accounts/${named}/balances`, 404, 'currency_account_not_found');
  });

  test('what is held is not available, and may leave less than nothing', async () => {
    const account = await open(world.clientId, 'DKK');
    await book(account, 'CREDIT_TRANSACTION', '100.005', {}, 'DKK');
    await service.query('update currency_accounts set held = 150 where account_id = $1', [account]);
    const [ledger, available] = await get(`/accounts/${account}/balances`);
    assert.deepEqual([ledger.amount.amount, ledger.credit_debit_indicator], [100.005, 'Credit']);
    assert.deepEqual([available.amount.amount, available.credit_debit_indicator], [49.995, 'Debit']);
  });

  test('trades that wait for their money require it, but for what was debited or is held', async () => {
    const account = await open(world.clientId, 'NOK');
    const trade = async (sell_amount: number, fields: object = {}) => {
      const pair = {
        client_id: world.clientId,
        contact_id: world.contactId,
        buy_currency: 'EUR',
        sell_currency: 'NOK',
      };
      return (await made('/trades', { ...pair, buy_amount: 10, rate: 0.1, sell_amount, ...fields })).trade_id as string;
    };
    const required = async () => (await get(`/accounts/${account}/balances`))[2].amount.amount;
    const [first, second] = [await trade(100), await trade(50.5, { status: 'Funds In Partially' })];
    await trade(1_000, { status: 'Closed' });
    assert.equal(await required(), 150.5);
    await book(account, 'DEBIT_TRANSACTION', '30', { trade_id: first }, 'NOK');
    await book(account, 'CREDIT_TRANSACTION', '7', { trade_id: first }, 'NOK');
    assert.equal(await required(), 120.5);
    // More than it sold, with a fee: nothing is owed back.
    await book(account, 'DEBIT_TRANSACTION', '75', { trade_id: first }, 'NOK');
    assert.equal(await required(), 50.5);
    await service.query(
      `insert into holds (hold_id, client_id, currency_account_id, trade_id, amount, currency, opened_at)
       values ($1, $2, $3, $4, 20, 'NOK', now())`,
      [randomUUID(), world.clientId, account, second],
    );
    assert.equal(await required(), 30.5);
    await service.operator('PATCH', `/trades/${second}`, { status: 'Funds In Full' });
    assert.equal(await required(), 0);
  });
});

describe('transactions', () => {
  const list = async (query: string, path = '/transactions?currencies=EUR&') => {
    const answer = await ask(`${path}${query}`);
    assert.equal(answer.status, 200, answer.text);
    const found = answer.body.map((each: { transaction_id: string }) => ids.indexOf(each.transaction_id));
    return [found, Number(answer.headers.get('x-total-count'))];
  };

  test('come by value date, ties by the order of booking, and can be filtered', async () => {
    for (const [query, found, total = found.length] of [
      ['', [3, 0, 2, 1]],
      ['order=asc', [1, 2, 0, 3]],
      ['page=2&page_size=3', [1], 4],
      ['page=9', [], 4],
      ['credit_debit_indicator=Debit', [1]],
      ['credit_debit_indicator=Credit&order=asc', [2, 0, 3]],
      ['transaction_type=margin', [3]],
      ['transaction_type=debit&credit_debit_indicator=Credit', []],
      ['transaction_type=payment_returned', []],
      // Included, and excluded; without an offset UTC.
      ['from_value_datetime=2026-03-02T00:00:00', [3, 0]],
      ['to_value_datetime=2026-03-02T00:00:00Z', [2, 1]],
      ['from_value_datetime=2026-03-02T01:00:00%2B01:00&to_value_datetime=2026-03-02T00:00:00.001', [0]],
      ['from_value_datetime=2026-03-01T00:00:00Z&credit_debit_indicator=Credit&page_size=1', [3], 3],
    ] as [string, number[], number?][]) {
      assert.deepEqual(await list(query), [found, total], query);
      assert.deepEqual(await list(query, `/accounts/${uuid}/transactions?`), [found, total], query);
    }
    assert.deepEqual(await list('', '/transactions?currencies=JPY,SEK&'), [[], 0]);
    await refused('/transactions', 400, 'missing_parameter');
    for (const query of ['order=up', 'transaction_type=fee', 'from_value_datetime=2026-03-01', 'to_value_datetime=now'])
      await refused(`/transactions?currencies=EUR&${query}`, 400, 'invalid_parameter');
  });

  test('show what events show, what they are, and what they name', async () => {
    const paid = (await world.pay()).body.payment_id;
    const id = await book(eur, 'DEBIT_TRANSACTION', '1.25', {
      payment_id: paid,
      value_datetime: '2026-02-01T10:00:00Z',
    });
    ids.push(id);
    const one = await get(`/accounts/${eur}/transactions/${id}`);
    const { body: operators } = await service.operator('GET', `/transactions/${id}`);
    const { kind, ...rest } = operators;
    assert.equal(kind, 'DEBIT_TRANSACTION');
    assert.deepEqual(one, { ...rest, transaction_type: 'debit', payment_id: paid, trade_id: null });
    assert.deepEqual((await get('/transactions?currencies=EUR&order=asc'))[0], one);
    await refused(`/accounts/${eur}/transactions/none`, 404, 'transaction_not_found');
    const [jpy] = await get('/balances?currencies=JPY&balance_types=Available');
    await refused(`/accounts/${jpy.account_id}/transactions/${id}`, 404, 'transaction_not_found');
  });

  test('the counts that are kept equal the transactions, of single bookings, of many at once and of imports', async () => {
    const kinds = ['CREDIT_TRANSACTION', 'DEBIT_TRANSACTION', 'CREDIT_MARGIN_TRANSACTION'];
    const of = { client_id: world.clientId, currency_account_id: eur, amount: { amount: '1', currency: 'EUR' } };
    await Promise.all(Array.from({ length: 12 }, (_, n) => made('/transactions', { ...of, kind: kinds[n % 3] })));
    const raw = Array.from({ length: 7 }, (_, n) => JSON.stringify({ ...of, kind: kinds[n % 2] })).join('\n');
    const headers = { 'content-type': 'application/x-ndjson' };
    await service.operator('POST', '/imports/transactions', undefined, { raw, headers });
    const { rows } = await service.query(
      `select a.booked_credit::int as credit, a.booked_debit::int as debit, a.booked_margin::int as margin,
         a.booked_incoming::int as incoming, a.booked_payment_returned::int as payment_returned
       from currency_accounts a where a.account_id = $1`,
      [eur],
    );
    for (const [type, kept] of Object.entries(rows[0])) {
      const [, total] = await list(`transaction_type=${type}&page_size=1`);
      const [, counted] = await list(`transaction_type=${type}&page_size=1&from_value_datetime=0001-01-01T00:00:00Z`);
      assert.deepEqual([kept, total], [counted, counted], type);
    }
  });
});

test('currencies are those with settings, a rate or an account, with cut-off and holidays', async () => {
  await service.operator('PUT', '/clock', { at: '2026-07-01T10:00:00Z' });
  const holidays = ['2026-06-30', '2026-07-04', '2026-12-25', '2027-07-02', '2027-07-05'].map((date) => ({ date }));
  const settings = { decimals: 3, cutoff_days: 1, cutoff_time: '15:30', cutoff_timezone: 'America/New_York', holidays };
  await service.operator('PUT', '/currencies/AUD', settings);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { USD: 1.25 } });
  const path = `/clients/${world.clientId}`;
  const currencies = [
    { currency: 'AUD', buy_allowed: false },
    { currency: 'GBP', buy_allowed: false, sell_allowed: false },
  ];
  await service.operator('PUT', `${path}/pricing`, { currencies, default_currency: 'AUD' });
  const all = await get('/currencies');
  const codes = all.map((each: { currency: string }) => each.currency);
  assert.deepEqual(codes, [...codes].sort());
  for (const code of ['AUD', 'EUR', 'GBP', 'JPY', 'USD']) assert.ok(codes.includes(code), code);
  const of = (code: string) => all.find((each: { currency: string }) => each.currency === code);
  assert.deepEqual(of('AUD'), {
    ...{ currency: 'AUD', available_for_trading: true, buy_allowed: false, sell_allowed: true, decimals: 3 },
    cutoff: { day: 1, time: '15:30-04:00' },
    // A Saturday, one of the past, and one too far ahead are left out.
    holidays: ['2026-12-25', '2027-07-02'],
    default: true,
  });
  assert.deepEqual(of('JPY'), {
    ...{ currency: 'JPY', available_for_trading: false, buy_allowed: false, sell_allowed: false, decimals: 0 },
    ...{ cutoff: { day: 2, time: null }, holidays: [], default: false },
  });
  assert.equal(of('GBP').available_for_trading, false);
  await service.operator('PATCH', path, { fx_enabled: false });
  const disabled = await get('/currencies?trade_type=forward');
  assert.equal(disabled.find((each: { currency: string }) => each.currency === 'AUD').available_for_trading, false);
  await refused('/currencies?trade_type=swap', 400, 'invalid_parameter');
  await service.operator('DELETE', '/clock');
});

test('a stranger reads nothing', async () => {
  for (const path of [
    '/contacts',
    '/accounts',
    '/balances',
    '/transactions?currencies=EUR',
    '/currencies',
    '/account-details',
  ]) {
    const answer = await ask(path, stranger.clientId);
    assert.deepEqual([answer.status, answer.body.code], [404, 'client_not_found'], path);
  }
});

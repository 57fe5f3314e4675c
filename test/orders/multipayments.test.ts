import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { accessToken } from '../world/access-token.ts';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** Many payments of a client in one order (instructions, second page, 8). */

let service: TestService;
let world: OrdersWorld;
before(async () => {
  service = await startTestService();
  await moveClock(service, FX_OPEN);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185, USD: 1.25 } });
  world = await ordersWorld(service, { client: { fx_enabled: true } });
});
after(() => service.stop());

const ROW = { payment_reference: 'Invoice 42', direction: 'buy', trade_type: 'spot' };
const NEW = {
  ...{ beneficiary_name: 'Neu GmbH', beneficiary_country: 'DE', bank_country: 'DE', iban: 'DE02120300000000202051' },
};
const eur = (payment_amount: number, fields: object = {}) => ({
  ...{ ...ROW, payment_currency: 'EUR', payment_amount, beneficiary_id: world.beneficiaryId },
  ...fields,
});
const described = (payment_amount: number, fields: object = {}) => ({
  ...{ ...ROW, payment_currency: 'EUR', payment_amount, ...NEW },
  ...fields,
});
const fromAccount = () => `&sell_currency=EUR&funding_account_id=${world.account}&reason=payment_for_goods`;
const order = (rows: unknown, query: string, options: { token?: string; key?: string; of?: OrdersWorld } = {}) => {
  const of = options.of ?? world;
  return service.client(options.token ?? of.token, 'POST', `/multipayments?client_id=${of.clientId}${query}`, {
    body: rows as object,
    headers: options.key === undefined ? {} : { 'idempotency-key': options.key },
  });
};
const refusal = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

describe('from an account, in its own currency', () => {
  test('a bank detail of blanks or hyphens alone counts as left out', async () => {
    const rows = ['', ' ', ' - '].map((blank, n) => described(1 + n, { swift_code: blank, account_number: blank }));
    const tried = await order(rows, `${fromAccount()}&validate_only=true`);
    assert.deepEqual([tried.status, tried.body.invalid_payments], [200, []], tried.text);
    const beside = { iban: ' ', account_number: '', bank_code: '-', swift_code: ' ' };
    const known = await order([eur(1, beside)], `${fromAccount()}&validate_only=true`);
    assert.deepEqual([known.status, known.body.invalid_payments], [200, []], known.text);
    const none = await order([described(1, { iban: ' ' })], `${fromAccount()}&validate_only=true`);
    assert.deepEqual([none.status, none.body.errors[0].code], [409, 'required'], none.text);
  });

  test('payments have trades of their own, and hold their amounts', async () => {
    const of = await ordersWorld(service, { funds: '300.00' });
    const rows = [100, 50.5].map((amount) => eur(amount, { beneficiary_id: of.beneficiaryId, instruction_id: 'I-1' }));
    const query = `&sell_currency=EUR&funding_account_id=${of.account}&reason=salary_payroll`;
    const made = await order(rows, query, { of });
    assert.equal(made.status, 201, made.text);
    const { multipayment_id: id, multipayment, trade_details: trades, payments, invalid_payments: invalid } = made.body;
    assert.equal(multipayment, `MP${String(id).padStart(6, '0')}`);
    assert.deepEqual(invalid, []);
    assert.deepEqual(
      trades.map((trade: Record<string, unknown>) => [trade.buy_amount, trade.client_rate, trade.client_rate_symbol]),
      [
        [100, 1, 'EUREUR'],
        [50.5, 1, 'EUREUR'],
      ],
    );
    assert.deepEqual(
      payments.map((payment: Record<string, unknown>) => payment.request_index),
      [0, 1],
    );
    assert.deepEqual(await of.funds(), ['300.00', '150.50', '149.50']);
    const paid = await of.paid(payments[1].payment_id);
    assert.deepEqual(
      [paid.source, paid.multipayment, paid.reason, paid.instruction_id, paid.request_index, paid.scheme, paid.charges],
      ['client', multipayment, 'salary_payroll', 'I-1', 1, 'SEPA', 'SHA'],
    );
    const rejected = await of.ask('DELETE', `/multipayments/${id}`, { reason: 'Twice' });
    assert.equal(rejected.status, 204, rejected.text);
    assert.deepEqual(await of.funds(), ['300.00', '0.00', '300.00']);
    assert.equal((await of.trade(trades[0].trade_id)).status, 'Cancelled');
  });

  test('what the account no longer covers is told, in the order of the instructions', async () => {
    const of = await ordersWorld(service, { funds: '100.00' });
    const rows = [60, 50, 40].map((amount) => eur(amount, { beneficiary_id: of.beneficiaryId }));
    const query = `&sell_currency=EUR&funding_account_id=${of.account}&reason=other`;
    const whole = await order(rows, `${query}&accept_partial=false`, { of });
    assert.deepEqual(refusal(whole), [409, 'payments_invalid']);
    assert.equal(whole.body.message, 'Some of the payments are not valid');
    assert.deepEqual(await of.funds(), ['100.00', '0.00', '100.00']);
    const made = await order(rows, query, { of });
    assert.equal(made.status, 202, made.text);
    assert.deepEqual(
      made.body.payments.map((payment: Record<string, unknown>) => payment.request_index),
      [0, 2],
    );
    const [invalid] = made.body.invalid_payments;
    assert.deepEqual(
      [invalid.request_index, invalid.payment_amount, invalid.errors[0].code],
      [1, 50, 'insufficient_funds'],
    );
    assert.deepEqual(refusal(await order(rows, query, { of })), [409, 'payments_invalid'], 'none is valid now');
  });

  test('of two orders at once for the same money one is done', async () => {
    const of = await ordersWorld(service, { funds: '100.00' });
    const query = `&sell_currency=EUR&funding_account_id=${of.account}&reason=other`;
    const rows = [eur(80, { beneficiary_id: of.beneficiaryId })];
    const both = await Promise.all([order(rows, query, { of }), order(rows, query, { of })]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
    assert.deepEqual(await of.funds(), ['100.00', '80.00', '20.00']);
  });

  test('a key makes it once', async () => {
    const of = await ordersWorld(service, { funds: '100.00' });
    const query = `&sell_currency=EUR&funding_account_id=${of.account}&reason=other`;
    const key = randomUUID();
    const rows = [eur(30, { beneficiary_id: of.beneficiaryId })];
    const [one, other] = await Promise.all([order(rows, query, { of, key }), order(rows, query, { of, key })]);
    assert.deepEqual([one.status, one.text], [other.status, other.text]);
    assert.deepEqual(await of.funds(), ['100.00', '30.00', '70.00']);
  });
});

describe('payees', () => {
  test('a described payee is made once, found again, and needs its permission', async () => {
    const [row, other] = [described(10), described(11, { beneficiary_name: 'neu  GMBH' })];
    const made = await order([row, other], fromAccount());
    assert.equal(made.status, 201, made.text);
    const [first, second] = await Promise.all(
      made.body.payments.map(({ payment_id: id }: { payment_id: string }) => world.paid(id)),
    );
    assert.equal(first.beneficiary_id, second.beneficiary_id);
    const payee = (await service.operator('GET', `/beneficiaries/${first.beneficiary_id}`)).body;
    assert.deepEqual([payee.beneficiary_name, payee.source, payee.beneficiary_verified], ['Neu GmbH', 'client', false]);
    const again = await order([row], fromAccount());
    assert.equal((await world.paid(again.body.payments[0].payment_id)).beneficiary_id, first.beneficiary_id);
    const { token } = await world.clerk(['can_create_payments', 'can_manage_multipayments']);
    assert.equal((await order([row], fromAccount(), { token })).status, 201, 'the payee exists');
    const unknown = described(10, { beneficiary_name: 'Ganz Neu' });
    assert.deepEqual(refusal(await order([unknown], fromAccount(), { token })), [403, 'permission_denied']);
    const rows = [described(10, { payment_currency: 'USD', bank_country: 'US', beneficiary_name: 'X' })];
    assert.equal((await order(rows, fromAccount(), { token })).status, 409, 'what is invalid needs no permission');
  });

  test('an address is parted at its last comma, unless a city stands beside it', async () => {
    const parts = async (fields: object) => {
      const name = `Payee ${randomUUID()}`;
      const made = await order([described(10, { beneficiary_name: name, ...fields })], fromAccount());
      assert.equal(made.status, 201, made.text);
      const { beneficiary_id: id } = await world.paid(made.body.payments[0].payment_id);
      const { address_line_1: line, city } = (await service.operator('GET', `/beneficiaries/${id}`)).body;
      return [line, city];
    };
    assert.deepEqual(await parts({ beneficiary_address: 'Haus 3, Weg 1, Bonn' }), ['Haus 3, Weg 1', 'Bonn']);
    assert.deepEqual(await parts({ beneficiary_address: 'Weg 1, Bonn', beneficiary_city: 'Köln' }), [
      'Weg 1, Bonn',
      'Köln',
    ]);
    assert.deepEqual(await parts({ beneficiary_address: 'Weg 1' }), ['Weg 1', null]);
  });
});

describe('what is wrong with an instruction', () => {
  const CASES: [name: string, row: (good: object) => object, faults: string[]][] = [
    [
      'no payee',
      (good) => ({ ...good, beneficiary_id: null }),
      ['required beneficiary_name', 'required beneficiary_country', 'required bank_country'],
    ],
    ['both payees', (good) => ({ ...good, iban: NEW.iban }), ['invalid_format iban']],
    [
      'an unknown payee',
      (good) => ({ ...good, beneficiary_id: 'BEN999999' }),
      ['beneficiary_not_found beneficiary_id'],
    ],
    [
      'another currency than the payee',
      (good) => ({ ...good, payment_currency: 'USD' }),
      ['currency_mismatch beneficiary_id'],
    ],
    ['no currency', (good) => ({ ...good, payment_currency: 'QQQ' }), ['invalid_currency payment_currency']],
    ['too many decimals', (good) => ({ ...good, payment_amount: 1.001 }), ['invalid_format payment_amount']],
    ['nothing to pay', (good) => ({ ...good, payment_amount: 0 }), ['invalid_format payment_amount']],
    ['a short reference', (good) => ({ ...good, payment_reference: 'ab' }), ['invalid_format payment_reference']],
    ['a sale', (good) => ({ ...good, direction: 'sell' }), ['invalid_format direction']],
    ['a forward', (good) => ({ ...good, trade_type: 'forward' }), ['invalid_format trade_type']],
    ['no day', (good) => ({ ...good, value_date: '2026-02-30' }), ['invalid_format value_date']],
    ['a day too far away', (good) => ({ ...good, value_date: '2028-02-01' }), ['invalid_format value_date']],
    ['a wrong IBAN', () => described(1, { iban: 'DE03120300000000202051' }), ['invalid_iban iban']],
    [
      'a payee of no country',
      () => described(1, { beneficiary_country: 'XX' }),
      ['invalid_country beneficiary_country'],
    ],
    [
      'nothing at all',
      () => ({}),
      [
        'required payment_currency',
        'required payment_amount',
        'required payment_reference',
        'required direction',
        'required trade_type',
        'required beneficiary_name',
        'required beneficiary_country',
        'required bank_country',
      ],
    ],
  ];
  for (const [name, change, faults] of CASES)
    test(name, async () => {
      const good = eur(1);
      const row = change(good);
      const made = await order([good, row], fromAccount());
      assert.equal(made.status, 202, made.text);
      const [invalid] = made.body.invalid_payments;
      const { errors, request_index: index, ...sent } = invalid;
      assert.deepEqual([index, sent], [1, row]);
      const told = errors.map(
        ({ code, details }: { code: string; details: string }) => `${code} ${details.split(':')[0]}`,
      );
      assert.deepEqual(told, faults);
    });

  for (const [name, row, code] of [
    ['an unknown field', { note: 'x' }, 'unknown_field'],
    ['an unknown field that is null', { note: null }, 'unknown_field'],
    ['an amount as text', { payment_amount: '1' }, 'invalid_format'],
    ['a reference that is a number', { payment_reference: 42 }, 'invalid_format'],
    ['a reference with a NUL', { payment_reference: 'In\0voice' }, 'invalid_format'],
  ] as const)
    test(`${name} refuses the body`, async () => {
      const refused = await order([eur(1), { ...eur(1), ...row }], fromAccount());
      assert.deepEqual(refusal(refused), [400, 'invalid_body']);
      const [field] = Object.keys(row);
      assert.deepEqual([refused.body.errors[0].code, refused.body.errors[0].request_index], [code, 1]);
      assert.match(refused.body.details, new RegExp(`^body\\[1\\]\\.${field}: `));
    });

  for (const [name, body] of [
    ['an object', {}],
    ['an empty list', []],
    ['201 instructions', Array.from({ length: 201 }, () => ({}))],
    ['a list of texts', ['x']],
  ] as const)
    test(`${name}: 400`, async () => {
      assert.deepEqual(refusal(await order(body, fromAccount())), [400, 'invalid_body']);
    });

  for (const [query, code] of [
    ['', 'missing_parameter'],
    ['&sell_currency=EUR', 'missing_parameter'],
    ['&sell_currency=EUR&funding_account_id=1', 'missing_parameter'],
    ['&sell_currency=EUR&trade_id=TRD000001', 'invalid_parameter'],
    ['&trade_id=TRD000001&funding_account_id=1', 'invalid_parameter'],
    ['&sell_currency=QQQ', 'invalid_parameter'],
    ['&sell_currency=GBP&accept_immediately=false', 'invalid_parameter'],
    ['&sell_currency=GBP&accept_partial=maybe', 'invalid_parameter'],
  ] as const)
    test(`the query "${query}": 400`, async () => {
      assert.deepEqual(refusal(await order([eur(1)], query)), [400, code]);
    });

  test('what does not exist is 404', async () => {
    assert.deepEqual(refusal(await order([eur(1)], '&trade_id=TRD999999')), [404, 'trade_not_found']);
    const other = '&sell_currency=EUR&funding_account_id=999999&reason=other';
    assert.deepEqual(refusal(await order([eur(1)], other)), [404, 'currency_account_not_found']);
  });
});

describe('with exchanges', () => {
  const sellingPounds = '&sell_currency=GBP';

  test('one spot for each currency and day, priced as a quote', async () => {
    const rows = [eur(100), eur(50.5), eur(10, { value_date: '2026-12-14' })];
    const made = await order(rows, sellingPounds);
    assert.equal(made.status, 201, made.text);
    const trades = made.body.trade_details;
    assert.deepEqual(
      trades.map((trade: Record<string, unknown>) => [
        ...[trade.buy_amount, trade.sell_amount, trade.client_rate, trade.client_rate_symbol],
      ]),
      [
        [150.5, 127.64, 1.179075, 'GBPEUR'],
        [10, 8.48, 1.179075, 'GBPEUR'],
      ],
    );
    const [first, , last] = made.body.payments;
    const paid = await world.paid(first.payment_id);
    assert.deepEqual([paid.trade_id, paid.payment_date], [trades[0].trade_id, '2026-11-26']);
    assert.equal((await world.paid(last.payment_id)).payment_date, '2026-12-14');
    const trade = await world.trade(trades[0].trade_id);
    assert.deepEqual([trade.status, trade.source, trade.value_date], ['Created', 'client', '2026-11-26']);
  });

  test('an account in the sell currency holds what is sold, and what it does not have refuses all', async () => {
    const of = await ordersWorld(service, { client: { fx_enabled: true } });
    const opened = await service.operator('POST', '/currency-accounts', { client_id: of.clientId, currency: 'GBP' });
    const account = opened.body.account_id;
    const rows = [eur(100, { beneficiary_id: of.beneficiaryId })];
    const query = `&sell_currency=GBP&funding_account_id=${account}&reason=other`;
    assert.deepEqual(refusal(await order(rows, query, { of })), [409, 'insufficient_funds']);
    await service.operator('POST', '/transactions', {
      ...{ client_id: of.clientId, currency_account_id: account, kind: 'CREDIT_TRANSACTION' },
      amount: { amount: '100.00', currency: 'GBP' },
    });
    const made = await order(rows, query, { of });
    assert.equal(made.status, 201, made.text);
    const { body } = await service.operator('GET', `/currency-accounts/${account}`);
    assert.deepEqual([body.held, body.available], ['84.81', '15.19']);
    const mismatch = `&sell_currency=GBP&funding_account_id=${of.account}&reason=other`;
    assert.deepEqual(refusal(await order(rows, mismatch, { of })), [409, 'currency_mismatch']);
  });

  test('can be rejected while the quotes would be open, and bind afterwards', async () => {
    const made = async () => (await order([eur(20)], sellingPounds)).body;
    const early = await made();
    assert.equal((await world.ask('DELETE', `/multipayments/${early.multipayment_id}`)).status, 204);
    assert.equal((await world.trade(early.trade_details[0].trade_id)).status, 'Rejected');
    const moved = await made();
    await service.operator('PATCH', `/trades/${moved.trade_details[0].trade_id}`, { status: 'Funds In Full' });
    const reject = (id: number) => world.ask('DELETE', `/multipayments/${id}`);
    assert.deepEqual(refusal(await reject(moved.multipayment_id)), [409, 'transition_not_allowed']);
    const late = await made();
    await moveClock(service, new Date(Date.parse(FX_OPEN) + 3_600_000).toISOString());
    assert.deepEqual(refusal(await reject(late.multipayment_id)), [409, 'transition_not_allowed']);
    assert.equal((await world.ask('DELETE', `/payments/${late.payments[0].payment_id}`)).status, 204);
  });

  test('what stops an exchange refuses all', async () => {
    const { token } = await world.clerk(['can_create_payments', 'can_manage_multipayments']);
    assert.deepEqual(refusal(await order([eur(1)], sellingPounds, { token })), [403, 'permission_denied']);
    assert.deepEqual(refusal(await order([eur(1)], '&sell_currency=CHF')), [409, 'exchange_rate_missing']);
    for (const currencies of [
      [{ currency: 'EUR', buy_allowed: false }, { currency: 'GBP' }],
      [{ currency: 'EUR' }, { currency: 'GBP', sell_allowed: false }],
    ]) {
      const barred = await ordersWorld(service, { client: { fx_enabled: true } });
      await service.operator('PUT', `/clients/${barred.clientId}/pricing`, { currencies });
      const rows = [eur(1, { beneficiary_id: barred.beneficiaryId }), {}];
      const stopped = await order(rows, sellingPounds, { of: barred });
      assert.deepEqual(refusal(stopped), [409, 'currency_not_allowed'], stopped.text);
    }
    const of = await ordersWorld(service, { client: { fx_enabled: false } });
    const rows = [eur(1, { beneficiary_id: of.beneficiaryId })];
    assert.deepEqual(refusal(await order(rows, sellingPounds, { of })), [409, 'fx_not_enabled']);
  });

  test('is tried without leaving anything', async () => {
    const tried = await order(
      [eur(100), described(5, { beneficiary_name: 'Nie da' })],
      `${sellingPounds}&validate_only=true`,
    );
    assert.equal(tried.status, 200, tried.text);
    const { multipayment_id: id, trade_details: trades, payments } = tried.body;
    assert.deepEqual([id, trades[0].trade_id, payments[0].payment_id, payments.length], [null, null, null, 2]);
    const { body } = await service.operator('GET', `/beneficiaries?client_id=${world.clientId}&page_size=1000`);
    assert.ok(!JSON.stringify(body).includes('Nie da'));
  });
});

describe('from a trade', () => {
  test('takes what is left of it, in its currency', async () => {
    const of = await ordersWorld(service);
    const { body: trade } = await service.operator('POST', '/trades', {
      ...{ client_id: of.clientId, contact_id: of.contactId, buy_currency: 'EUR', sell_currency: 'GBP' },
      ...{ buy_amount: 100, rate: 1.17 },
    });
    const rows = [60, 50].map((amount) => eur(amount, { beneficiary_id: of.beneficiaryId }));
    const made = await order(rows, `&trade_id=${trade.trade_id}`, { of });
    assert.equal(made.status, 202, made.text);
    assert.deepEqual(made.body.trade_details, []);
    assert.equal(made.body.invalid_payments[0].errors[0].code, 'trade_amount_exceeded');
    await service.operator('PATCH', `/trades/${trade.trade_id}`, { status: 'Closed' });
    assert.deepEqual(refusal(await order(rows, `&trade_id=${trade.trade_id}`, { of })), [409, 'trade_not_open']);
  });
});

test('the limit of the day refuses all', async () => {
  const of = await ordersWorld(service);
  const limit = { daily_payment_limit: { amount: 100, currency: 'EUR' } };
  assert.equal((await service.operator('PATCH', `/clients/${of.clientId}`, limit)).status, 200);
  const rows = [60, 50].map((amount) => eur(amount, { beneficiary_id: of.beneficiaryId }));
  const query = `&sell_currency=EUR&funding_account_id=${of.account}&reason=other`;
  assert.deepEqual(refusal(await order(rows, query, { of })), [409, 'limit_exceeded']);
  assert.equal((await order(rows.slice(0, 1), query, { of })).status, 201);
});

test('needs both permissions, and a stranger learns nothing', async () => {
  for (const permissions of [['can_create_payments'], ['can_manage_multipayments']]) {
    const { token } = await world.clerk(permissions);
    assert.deepEqual(refusal(await order([eur(1)], fromAccount(), { token })), [403, 'permission_denied']);
  }
  const stranger = await ordersWorld(service);
  const token = await accessToken(service, stranger.ordererId);
  assert.equal((await order([eur(1)], fromAccount(), { token })).status, 404);
});

describe('refusals come in their order', () => {
  test('of what is paid from an account', async () => {
    const strict = await startTestService();
    try {
      await moveClock(strict, FX_OPEN);
      const of = await ordersWorld(strict, { client: { fx_enabled: false } });
      const put = async (path: string, body: object) =>
        assert.equal((await strict.operator('PUT', path, body)).status, 200, path);
      const client = (body: object) => strict.operator('PATCH', `/clients/${of.clientId}`, body);
      const opened = await strict.operator('POST', '/currency-accounts', { client_id: of.clientId, currency: 'GBP' });
      const pounds = opened.body.account_id;
      const dollars = {
        ...{
          ...ROW,
          payment_currency: 'USD',
          payment_amount: 5,
          beneficiary_name: 'Ann Ltd',
          beneficiary_country: 'US',
        },
        ...{ bank_country: 'US', account_number: '123456789', bank_code: '021000021', beneficiary_city: 'Albany' },
        ...{ beneficiary_address: '1 Main St', beneficiary_state: 'NY', beneficiary_post_code: '12207' },
      };
      const euros = { ...ROW, payment_currency: 'EUR', payment_amount: 100, beneficiary_id: of.beneficiaryId };
      const rows: object[] = [euros, dollars, { ...euros, payment_reference: 'x' }];
      const ask = (account = pounds, fields = '&accept_partial=false') => {
        const query = `&sell_currency=GBP&reason=other&funding_account_id=${account}${fields}`;
        return strict.client(of.token, 'POST', `/multipayments?client_id=${of.clientId}${query}`, { body: rows });
      };
      const rates = (quoted: object) => put('/exchange-rates', { base_currency: 'GBP', rates: quoted });
      const pricing = (currencies: object[]) => put(`/clients/${of.clientId}/pricing`, { currencies });
      const all = [{ currency: 'GBP' }, { currency: 'EUR' }, { currency: 'USD' }];

      await rates({ EUR: 1.185 });
      await put('/pricing', { rate_max_age_seconds: 60 });
      await put('/currencies/EUR', { maximum: 50 });
      await put('/fx-availability', { mode: 'closed' });
      await pricing([{ currency: 'EUR', buy_allowed: false }, { currency: 'GBP' }, { currency: 'USD' }]);
      await client({ daily_payment_limit: { amount: 1, currency: 'EUR' } });
      await moveClock(strict, new Date(Date.parse(FX_OPEN) + 120_000).toISOString());
      const clerk = await of.clerk(['can_create_payments']);
      const denied = await strict.client(clerk.token, 'POST', `/multipayments?client_id=${of.clientId}`, { body: {} });
      assert.deepEqual(refusal(denied), [403, 'permission_denied']);
      rows.push({ typo: 1 });
      assert.deepEqual(refusal(await ask(999_999)), [400, 'invalid_body'], 'the body before what does not exist');
      rows.pop();
      assert.deepEqual(refusal(await ask(999_999)), [404, 'currency_account_not_found']);
      assert.deepEqual(refusal(await ask(of.account)), [409, 'currency_mismatch']);
      assert.deepEqual(refusal(await ask()), [409, 'fx_not_enabled']);
      await client({ fx_enabled: true });
      assert.deepEqual(refusal(await ask()), [409, 'fx_closed']);
      await put('/fx-availability', { mode: 'open' });
      assert.deepEqual(refusal(await ask()), [409, 'currency_not_allowed']);
      await pricing(all);
      assert.deepEqual(refusal(await ask()), [409, 'exchange_rate_missing']);
      await rates({ EUR: 1.185, USD: 1.25 });
      await moveClock(strict, new Date(Date.parse(FX_OPEN) + 600_000).toISOString());
      assert.deepEqual(refusal(await ask()), [409, 'exchange_rate_stale']);
      await put('/pricing', { rate_max_age_seconds: 0 });
      assert.deepEqual(refusal(await ask()), [409, 'amount_out_of_range']);
      await put('/currencies/EUR', {});
      const poor = await ask();
      assert.deepEqual(refusal(poor), [409, 'insufficient_funds']);
      assert.match(poor.body.details, /^available: 0(\.00)?, needed: \d+\.\d\d, currency: GBP$/);
      await strict.operator('POST', '/transactions', {
        ...{ client_id: of.clientId, currency_account_id: pounds, kind: 'CREDIT_TRANSACTION' },
        amount: { amount: '1000.00', currency: 'GBP' },
      });
      const invalid = await ask();
      assert.deepEqual(refusal(invalid), [409, 'payments_invalid']);
      assert.deepEqual(
        invalid.body.errors.map((each: { code: string; request_index: number }) => [each.code, each.request_index]),
        [['invalid_format', 2]],
      );
      assert.deepEqual(refusal(await ask(pounds, '')), [409, 'limit_exceeded'], 'of what would be made');
      await client({ daily_payment_limit: { amount: 200, currency: 'EUR' } });
      const made = await ask(pounds, '');
      assert.deepEqual([made.status, made.body.payments?.length, made.body.invalid_payments?.length], [202, 2, 1]);
    } finally {
      await strict.stop();
    }
  });

  test('of what is paid from a trade', async () => {
    const of = await ordersWorld(service);
    const [{ trade_id: own }] = (await of.order([of.payment('1.00')])).body;
    const rows = [eur(1, { beneficiary_id: of.beneficiaryId })];
    const ask = (trade: string) => order(rows, `&trade_id=${trade}`, { of });
    assert.deepEqual(refusal(await ask('TRD999999')), [404, 'trade_not_found']);
    assert.deepEqual(refusal(await ask(own)), [409, 'transition_not_allowed']);
    const [{ payment_id: cancelled, trade_id: closed }] = (await of.order([of.payment('2.00')])).body;
    assert.equal((await of.ask('DELETE', `/payments/${cancelled}`)).status, 204);
    assert.deepEqual(refusal(await ask(closed)), [409, 'transition_not_allowed'], 'before trade_not_open');
    await service.operator('PATCH', `/trades/${of.tradeId}`, { status: 'Cancelled' });
    assert.deepEqual(refusal(await ask(of.tradeId)), [409, 'trade_not_open']);
  });
});

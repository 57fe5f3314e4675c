import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** What a client orders (docs/payments.md). */
let service: TestService;
let world: OrdersWorld;
before(async () => {
  service = await startTestService();
  // The days of payments stand below.
  await moveClock(service, FX_OPEN);
  world = await ordersWorld(service);
});
after(() => service.stop());

test('a payment from an account holds its amount, and has a trade of its own that follows it', async () => {
  const made = await world.order([world.payment('250.50')]);
  assert.equal(made.status, 201, made.text);
  const [payment] = made.body;
  assert.ok(made.text.includes('"amount":250.50'), made.text);
  assert.deepEqual(
    [payment.status, payment.scheme, payment.charges, payment.payment_date, payment.warning, payment.payment_currency],
    ['Validating beneficiary information', 'SEPA', 'SHA', '2026-12-01', null, 'EUR'],
  );
  const { payment_id: id, trade_id: trade } = payment;
  assert.deepEqual(await world.funds(), ['1000.00', '250.50', '749.50']);
  const [hold] = await world.holds('&state=open');
  assert.deepEqual(
    [hold.payment_id, hold.trade_id, hold.amount, hold.currency, hold.state, hold.closed_at, hold.closed_by],
    [id, null, 250.5, 'EUR', 'open', null, null],
  );
  const booked = await world.trade(trade);
  assert.deepEqual(
    [
      booked.status,
      booked.trade_type,
      booked.buy_amount,
      booked.sell_amount,
      booked.rate,
      booked.source,
      booked.reason,
    ],
    ['Created', 'spot', 250.5, 250.5, 1, 'client', 'payment_for_goods'],
  );
  const shown = await world.paid(id);
  assert.deepEqual(
    [shown.source, shown.reason, shown.funding_account_id, shown.request_index, shown.contact_id, shown.scheme],
    ['client', 'payment_for_goods', world.account, 0, world.ordererId, 'SEPA'],
  );
  await world.act(id, 'validate', 'send');
  assert.equal((await world.trade(trade)).status, 'Funds Out Full Allocated');
  const debit = await world.book('DEBIT_TRANSACTION', '250.50', { payment_id: id });
  assert.equal(debit.status, 201, debit.text);
  assert.deepEqual(await world.funds(), ['749.50', '0.00', '749.50']);
  const closed = (await world.holds('&state=closed'))[0];
  assert.deepEqual([closed.hold_id, closed.closed_by], [hold.hold_id, debit.body.transaction_id]);
  await world.act(id, 'complete');
  assert.equal((await world.trade(trade)).status, 'Closed');
});

test('a hold closes however its payment ends, and what is returned while it is held is not credited', async () => {
  const own = await ordersWorld(service);
  const ends: [string, (id: string) => Promise<unknown>][] = [
    ['cancel', (id) => own.ask('DELETE', `/payments/${id}`)],
    ['invalidate', (id) => own.act(id, 'invalidate')],
    ['invalidate', (id) => own.act(id, 'validate', 'send', 'invalidate')],
    ['return', (id) => own.act(id, 'validate', 'send', 'start_return', 'return')],
    ['return', (id) => own.act(id, 'validate', 'send', 'complete', 'start_return', 'return')],
    ['cancel', (id) => own.imports('payment-actions', [{ payment_id: id, action: 'cancel' }])],
  ];
  for (const [by, end] of ends) {
    const id = await own.pays('1000.00');
    assert.deepEqual(await own.funds(), ['1000.00', '1000.00', '0.00']);
    const refused = await own.order([own.payment(1)]);
    assert.deepEqual([refused.status, refused.body.code], [409, 'insufficient_funds'], refused.text);
    assert.equal(refused.body.details, 'available: 0.00, needed: 1, currency: EUR');
    await end(id);
    assert.deepEqual(await own.funds(), ['1000.00', '0.00', '1000.00'], by);
    const holds = await own.holds();
    assert.deepEqual([holds.at(-1).payment_id, holds.at(-1).closed_by], [id, by]);
    const { trade_id: trade } = await own.paid(id);
    const closed = by === 'return' && ends.findIndex(([, each]) => each === end) === 4;
    assert.equal((await own.trade(trade)).status, closed ? 'Closed' : 'Cancelled');
  }
});

test('a returned payment that was debited is credited as before', async () => {
  const own = await ordersWorld(service);
  const id = await own.pays('400.00');
  await own.act(id, 'validate', 'send');
  // A fee is smaller, and a credit pays for nothing.
  for (const [kind, amount] of [
    ['DEBIT_TRANSACTION', '1.50'],
    ['CREDIT_TRANSACTION', '500.00'],
  ] as const)
    assert.equal((await own.book(kind, amount, { payment_id: id })).status, 201);
  assert.equal((await own.holds('&state=open')).length, 1);
  await own.book('DEBIT_TRANSACTION', '400.00', { payment_id: id });
  await own.book('DEBIT_TRANSACTION', '400.00', { payment_id: id });
  assert.deepEqual(await own.funds(), ['698.50', '0.00', '698.50']);
  await own.act(id, 'complete', 'start_return', 'return');
  assert.deepEqual(await own.funds(), ['1098.50', '0.00', '1098.50']);
});

test('what a transaction names must exist, belong to the client, and fit the account', async () => {
  const own = await ordersWorld(service);
  const other = await ordersWorld(service);
  const dollars = await service.operator('POST', '/trades', {
    ...{ client_id: own.clientId, contact_id: own.contactId, buy_currency: 'USD', sell_currency: 'JPY' },
    ...{ buy_amount: 100, rate: 1 },
  });
  const id = await own.pays('10.00');
  for (const [fields, status, code, field] of [
    [{ payment_id: id, trade_id: own.tradeId }, 400, 'invalid_body', 'body.trade_id'],
    [{ payment_id: 'PAY-NONE' }, 404, 'payment_not_found', 'body.payment_id'],
    [{ trade_id: 'TRD-NONE' }, 404, 'trade_not_found', 'body.trade_id'],
    [{ payment_id: await other.pays(10) }, 409, 'currency_mismatch', 'body.payment_id'],
    [{ trade_id: other.tradeId }, 409, 'currency_mismatch', 'body.trade_id'],
    [{ trade_id: dollars.body.trade_id }, 409, 'currency_mismatch', 'body.trade_id'],
  ] as const) {
    const refused = await own.book('DEBIT_TRANSACTION', '10.00', fields);
    assert.deepEqual([refused.status, refused.body.code], [status, code], refused.text);
    assert.ok(refused.body.details.startsWith(field), refused.text);
  }
  const line = { client_id: own.clientId, currency_account_id: own.account, kind: 'DEBIT_TRANSACTION' };
  const amount = { amount: '10.00', currency: 'EUR' };
  const lines = [
    { ...line, amount, payment_id: 'PAY-NONE' },
    { ...line, amount, payment_id: id },
  ];
  const imported = await own.imports('transactions', lines);
  assert.deepEqual(
    [imported.body.accepted, imported.body.errors.map((each: { code: string }) => each.code)],
    [1, ['payment_not_found']],
    imported.text,
  );
  assert.deepEqual(await own.funds(), ['990.00', '0.00', '990.00']);
});

test('a hold is released only where no order may still leave', async () => {
  const own = await ordersWorld(service);
  const id = await own.pays('100.00');
  const [hold] = await own.holds();
  const release = (body: unknown = { reason: 'Settled by hand' }, holdId = hold.hold_id) =>
    service.operator('POST', `/holds/${holdId}/release`, body);
  const wrong = await release({ why: 'Settled by hand' });
  assert.deepEqual(
    [wrong.status, wrong.body.errors.map(({ code, details }: { code: string; details: string }) => [code, details])],
    [
      400,
      [
        ['required', 'body.reason: is required'],
        ['unknown_field', 'body.why: is not a field of this request'],
      ],
    ],
  );
  assert.deepEqual([(await release(undefined, crypto.randomUUID())).body.code], ['hold_not_found']);
  assert.deepEqual([(await release(undefined, 'none')).body.code], ['hold_not_found']);
  assert.equal((await release()).body.code, 'transition_not_allowed');
  await own.act(id, 'validate', 'send');
  const released = await release();
  assert.equal(released.status, 200, released.text);
  assert.deepEqual([released.body.state, released.body.closed_by], ['closed', 'release']);
  assert.deepEqual(await own.funds(), ['1000.00', '0.00', '1000.00']);
  assert.equal((await own.paid(id)).hold_released, true);
  assert.equal((await release()).body.code, 'transition_not_allowed');
  const { rows } = await service.query(
    `select reason, after from audit where entity = 'payment' and entity_id = $1 order by id desc limit 1`,
    [id],
  );
  assert.deepEqual([rows[0].reason, rows[0].after.hold_released], ['Settled by hand', true]);
});

test('a trade takes no more than it buys, whoever pays from it', async () => {
  const own = await ordersWorld(service);
  const booked = await service.operator('POST', '/trades', {
    ...{ client_id: own.clientId, contact_id: own.contactId, buy_currency: 'EUR', sell_currency: 'GBP' },
    ...{ buy_amount: 1000, rate: 1.17 },
  });
  const source = { trade_id: booked.body.trade_id };
  const order = (amount: number) => own.order([own.payment(amount)], source);
  const made = await order(400);
  assert.equal(made.status, 201, made.text);
  assert.equal(made.body[0].trade_id, source.trade_id);
  assert.deepEqual(await own.holds(), []);
  // The institution's own payments count, and are not refused.
  assert.equal((await own.pay({ ...source, amount: 500 })).status, 201);
  const refused = await order(101);
  assert.deepEqual(
    [refused.status, refused.body.code, refused.body.details],
    [409, 'trade_amount_exceeded', 'available: 100, needed: 101, currency: EUR'],
  );
  assert.equal((await own.ask('DELETE', `/payments/${made.body[0].payment_id}`)).status, 204);
  // A returned one stays live: its money went out and came back.
  const again = await order(500);
  assert.equal(again.status, 201, again.text);
  await own.act(again.body[0].payment_id, 'validate', 'send', 'start_return', 'return');
  assert.equal((await order(1)).body.code, 'trade_amount_exceeded');
  await service.operator('POST', '/trades', {
    ...{ client_id: own.clientId, contact_id: own.contactId, buy_currency: 'EUR', sell_currency: 'GBP' },
    ...{ buy_amount: 1000, rate: 1.17, trade_type: 'drawdown', parent_trade_id: source.trade_id },
  });
  assert.equal((await own.pay({ ...source, amount: 500 })).status, 201);
  assert.equal((await order(1)).body.details, 'available: -1500, needed: 1, currency: EUR');
});

test('a refused order names what is wrong, all of it, in the order of the checks', async () => {
  const own = await ordersWorld(service);
  const other = await ordersWorld(service);
  const account = { funding_account_id: own.account };
  const reason = { reason: 'payment_for_goods' };
  const blocked = await service.operator('POST', '/beneficiaries', {
    ...{ client_id: own.clientId, beneficiary_name: 'Blocked', currency: 'EUR', iban: 'FR1420041010050500013M02606' },
    beneficiary_blocked: true,
  });
  // The same account under another name.
  const alias = await service.operator('POST', '/beneficiaries', {
    ...{ client_id: own.clientId, beneficiary_name: 'Alias', currency: 'EUR', iban: 'FR1420041010050500013M02606' },
  });
  const dollars = await service.operator('POST', '/beneficiaries', {
    ...{ client_id: own.clientId, beneficiary_name: 'Dollars', currency: 'USD', account_number: '123' },
  });
  const gone = await service.operator('POST', '/beneficiaries', {
    ...{
      client_id: own.clientId,
      beneficiary_name: 'Gone',
      currency: 'EUR',
      account_number: '12',
      beneficiary_active: false,
    },
  });
  const to = ({ body }: { body: { beneficiary_id: string } }) => ({ beneficiary_id: body.beneficiary_id });
  const window = await service.operator('POST', '/trades', {
    ...{ client_id: own.clientId, contact_id: own.contactId, buy_currency: 'EUR', sell_currency: 'GBP' },
    ...{ buy_amount: 1000, rate: 1.17, trade_type: 'window_forward' },
  });
  const single = (await own.paid(await own.pays('1.00'))).trade_id;
  const from = { ...account, ...reason };
  const cases: [object, object[], number, string, string][] = [
    [{}, [own.payment(1)], 400, 'invalid_body', 'body.trade_id: is required, or funding_account_id'],
    [account, [own.payment(1)], 400, 'invalid_body', 'body.reason: is required with funding_account_id'],
    [{ ...from, trade_id: own.tradeId }, [own.payment(1)], 400, 'invalid_body', 'body.funding_account_id'],
    [{ quote_id: 'a', ...reason }, [own.payment(1)], 400, 'invalid_body', 'body.funding_account_id: is required'],
    [{ ...from, reason: 'fun' }, [own.payment(1)], 400, 'invalid_body', 'body.reason'],
    [{ ...from, typo: null }, [own.payment(1)], 400, 'invalid_body', 'body.typo'],
    [from, [], 400, 'invalid_body', 'body.payments'],
    [from, [own.payment('1.001')], 400, 'invalid_body', 'body.payments[0].amount'],
    [from, [own.payment('1.0000000001')], 400, 'invalid_body', 'body.payments[0].amount: must have at most 2 digits'],
    [from, [own.payment(1, { reference: 'ab' })], 400, 'invalid_body', 'body.payments[0].reference'],
    [from, [own.payment(1, { reference: 'a\nbc' })], 400, 'invalid_body', 'body.payments[0].reference'],
    [from, [own.payment(1, { payment_date: '2026-02-30' })], 400, 'invalid_body', 'body.payments[0].payment_date'],
    [from, [own.payment(1, { payment_date: '2099-02-03' })], 400, 'invalid_body', 'body.payments[0].payment_date'],
    ...[{ trade_id: 'none' }, { ...from, funding_account_id: 999_999 }, { ...from, quote_id: 'none' }].map(
      (source): [object, object[], number, string, string] =>
        [
          ...[source, [own.payment(1), own.payment(1, { payment_date: '2029-01-01' })]],
          ...[400, 'invalid_body', 'body.payments[1].payment_date: must be at most 366 days'],
        ] as [object, object[], number, string, string],
    ),
    [{ ...from, quote_id: 'abc' }, [own.payment(1)], 404, 'quote_not_found', 'body.quote_id'],
    [{ trade_id: other.tradeId }, [own.payment(1)], 404, 'trade_not_found', 'body.trade_id'],
    [
      { ...from, funding_account_id: other.account },
      [own.payment(1)],
      404,
      'currency_account_not_found',
      'body.funding',
    ],
    [from, [own.payment(1, to(gone))], 404, 'beneficiary_not_found', 'body.payments[0].beneficiary_id'],
    [from, [own.payment(1, { account_id: 999999 })], 404, 'bank_account_not_found', 'body.payments[0].account_id'],
    [{ trade_id: single }, [own.payment(1)], 409, 'transition_not_allowed', 'body.trade_id'],
    [{ trade_id: window.body.trade_id }, [own.payment(1, to(dollars))], 409, 'trade_not_open', 'body.trade_id'],
    [
      from,
      [own.payment(1), own.payment(1, to(blocked))],
      409,
      'beneficiary_blocked',
      'body.payments[1].beneficiary_id',
    ],
    [from, [own.payment(1, to(alias))], 409, 'beneficiary_blocked', 'body.payments[0].beneficiary_id'],
    [from, [own.payment(9999, to(dollars))], 409, 'currency_mismatch', 'body.payments[0].beneficiary_id'],
  ];
  for (const [source, payments, status, code, details] of cases) {
    const refused = await own.order(payments, source);
    const said = { status: refused.status, code: refused.body.code };
    assert.deepEqual(said, { status, code }, `${JSON.stringify(source)} ${refused.text}`);
    assert.ok(refused.body.details.startsWith(details), `${details}: ${refused.text}`);
  }
  const all = await own.order(
    [own.payment('1.001', { payment_date: '2099-02-03' }), own.payment(1), own.payment('2.001')],
    account,
  );
  assert.deepEqual(
    all.body.errors.map((each: { code: string; request_index: number; details: string }) => [
      each.code,
      each.request_index,
      each.details.split(':')[0],
    ]),
    [
      ['required', null, 'body.reason'],
      ['invalid_format', 0, 'body.payments[0].amount'],
      ['invalid_format', 0, 'body.payments[0].payment_date'],
      ['invalid_format', 2, 'body.payments[2].amount'],
    ],
  );
  const several = await own.order([own.payment(1, to(blocked)), own.payment(1), own.payment(1, to(alias))]);
  assert.deepEqual(
    several.body.errors.map((each: { request_index: number }) => each.request_index),
    [0, 2],
  );
  assert.deepEqual(await own.funds(), ['1000.00', '1.00', '999.00']);
  const denied = await own.order([own.payment(1)], from, { token: (await own.clerk([])).token });
  assert.deepEqual(
    [denied.status, denied.body.details],
    [403, 'the contact needs can_create_payments for this client'],
  );
  const creator = await own.clerk(['can_create_payments']);
  const traded = await own.order([{ typo: 1 }], { ...from, quote_id: 'abc' }, { token: creator.token });
  assert.deepEqual([traded.status, traded.body.details], [403, 'the contact needs can_trade for this client']);
});

test('a payment has the decimals of its currency, as the institution sets them', async () => {
  const own = await ordersWorld(service);
  const open = { client_id: own.clientId, currency: 'CHF' };
  const { body } = await service.operator('POST', '/currency-accounts', open);
  await service.operator('POST', '/transactions', {
    ...{ client_id: own.clientId, currency_account_id: body.account_id, kind: 'CREDIT_INCOMING_TRANSACTION' },
    amount: { amount: '10', currency: 'CHF' },
  });
  const payee = await service.operator('POST', '/beneficiaries', {
    ...{ client_id: own.clientId, beneficiary_name: 'Meier', currency: 'CHF', account_number: '123' },
  });
  const pay = (amount: string) =>
    own.order([own.payment(amount, { beneficiary_id: payee.body.beneficiary_id })], {
      ...{ funding_account_id: body.account_id, reason: 'payment_for_goods' },
    });
  const set = (settings: object) => service.operator('PUT', '/currencies/CHF', settings);
  await set({ decimals: 3 });
  const paid = await pay('1.125');
  assert.equal(paid.status, 201, paid.text);
  const { buy_amount: bought, sell_amount: sold } = await own.trade(paid.body[0].trade_id);
  assert.deepEqual([bought, sold], [1.125, 1.125]);
  await set({ decimals: 0 });
  assert.equal(
    (await pay('1.1')).body.details,
    'body.payments[0].amount: must have at most 0 digits after the point, as CHF has',
  );
  await set({});
});

test('nothing uses the trade of a single payment, and a client’s trade that has ended stays so', async () => {
  const own = await ordersWorld(service);
  const { trade_id: single } = await own.paid(await own.pays('1.00'));
  const patch = await service.operator('PATCH', `/trades/${single}`, { status: 'Closed' });
  assert.deepEqual([patch.status, patch.body.code], [409, 'transition_not_allowed'], patch.text);
  const paid = await own.pay({ trade_id: single, amount: 1 });
  assert.deepEqual([paid.status, paid.body.code], [409, 'transition_not_allowed'], paid.text);
  const drawn = { client_id: own.clientId, contact_id: own.contactId, parent_trade_id: single, rate: 1, buy_amount: 1 };
  const drawdown = { ...drawn, buy_currency: 'EUR', sell_currency: 'EUR', trade_type: 'drawdown' };
  const made = await service.operator('POST', '/trades', drawdown);
  assert.deepEqual([made.status, made.body.code], [409, 'transition_not_allowed'], made.text);
  assert.match(made.body.details, /^body\.parent_trade_id: /);
  const { body: line } = await own.imports('trades', [{ ...drawdown, trade_id: crypto.randomUUID() }]);
  assert.deepEqual([line.accepted, line.errors?.[0]?.code], [0, 'transition_not_allowed'], JSON.stringify(line));
  const tried = await own.ask('POST', '/sandbox/payments', { trade_id: single });
  assert.deepEqual([tried.status, tried.body.code], [409, 'transition_not_allowed'], tried.text);
  const next = await own.ask('POST', '/sandbox/payments', {});
  assert.equal(next.status, 201, next.text);
  assert.notEqual(next.body.trade_id, single);
});

test('an order that is only tried answers what success would say, and keeps nothing', async () => {
  const own = await ordersWorld(service);
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const tried = await own.order([own.payment('10.00', { payment_date: '2026-11-28' })], undefined, {
    query: '&validate_only=true',
    headers,
  });
  assert.equal(tried.status, 200, tried.text);
  const [{ payment_id, trade_id, uuid, payment_instruction, status, payment_date, warning }] = tried.body;
  assert.deepEqual([payment_id, trade_id, uuid, payment_instruction], [null, null, null, null]);
  assert.deepEqual(
    [status, payment_date, warning],
    [
      'Validating beneficiary information',
      '2026-11-30',
      'payment_date: 2026-11-28 is a weekend day of EUR; 2026-11-30 is used',
    ],
  );
  assert.deepEqual([await own.funds(), await own.holds()], [['1000.00', '0.00', '1000.00'], []]);
  const made = await own.order([own.payment('10.00')], undefined, { headers });
  assert.deepEqual([made.status, made.headers.get('idempotency-replayed')], [201, null]);
  const again = await own.order([own.payment('10.00')], undefined, { headers });
  assert.deepEqual([again.status, again.text, again.headers.get('idempotency-replayed')], [201, made.text, 'true']);
  assert.equal((await own.order([own.payment('11.00')], undefined, { headers })).body.code, 'idempotency_conflict');
  assert.deepEqual(await own.funds(), ['1000.00', '10.00', '990.00']);
});

test('of equal orders at once exactly as many succeed as the money covers', async () => {
  const own = await ordersWorld(service);
  const count = 30;
  const key = { 'idempotency-key': crypto.randomUUID() };
  const sent = Array.from({ length: count }, (_, index) =>
    own.order([own.payment('150.00'), own.payment('100.00')], undefined, index % 10 === 0 ? { headers: key } : {}),
  );
  const answers = await Promise.all(sent);
  const made = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text));
  assert.equal(made.size, 4, answers.map(({ status, body }) => `${status} ${body.code}`).join(', '));
  const refused = answers.filter(({ status }) => status !== 201);
  for (const { status, body } of refused) assert.deepEqual([status, body.code], [409, 'insufficient_funds']);
  assert.deepEqual(await own.funds(), ['1000.00', '1000.00', '0.00']);
  const trade = await Promise.all(
    Array.from({ length: 20 }, () => own.order([own.payment('30000')], { trade_id: own.tradeId })),
  );
  assert.equal(trade.filter(({ status }) => status === 201).length, 3);
});

test('the limit of a day bounds what contacts order, in whatever currency', async () => {
  const own = await ordersWorld(service, { funds: '100000.00' });
  const rates = { base_currency: 'EUR', rates: { USD: 1.1 } };
  await service.operator('PUT', '/exchange-rates', rates);
  const before = await own.pays('100.00');
  const limit = (value: unknown) =>
    service.operator('PATCH', `/clients/${own.clientId}`, { daily_payment_limit: value });
  const set = await limit({ amount: JSON.rawJSON('1000.00'), currency: 'USD' });
  assert.equal(set.status, 200, set.text);
  assert.ok(set.text.includes('"daily_payment_limit":{"amount":1000.00,"currency":"USD"}'), set.text);
  for (const value of [{ amount: '5', currency: 'USD' }, { amount: 5 }, { amount: -1, currency: 'USD' }, 5])
    assert.equal((await limit(value)).status, 400, JSON.stringify(value));
  const core = await service.operator('POST', '/operator-tokens', { name: crypto.randomUUID(), role: 'core' });
  const denied = await service.operator(
    'PATCH',
    `/clients/${own.clientId}`,
    { daily_payment_limit: null },
    { token: core.body.token },
  );
  assert.equal(denied.body.details, 'token: needs the scope approvals');
  // The institution's own payments do not count.
  await own.pay({ amount: 5000 });
  const id = await own.pays('700.00');
  const refused = await own.order([own.payment('110.00')]);
  assert.deepEqual(
    [refused.status, refused.body.code, refused.body.details],
    [409, 'limit_exceeded', 'the limit of the day is 1000.00 USD, and 120.00 USD is left'],
    refused.text,
  );
  const answers = await Promise.all(Array.from({ length: 8 }, () => own.order([own.payment('50.00')])));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, ...Array(6).fill(409)]);
  await own.ask('DELETE', `/payments/${id}`);
  // The rate of each is kept from its creation.
  await service.operator('PUT', '/exchange-rates', { base_currency: 'EUR', rates: { USD: 2 } });
  assert.equal((await own.order([own.payment('400.00')])).body.code, 'limit_exceeded');
  assert.equal((await own.order([own.payment('345.00')])).status, 201);
  assert.equal((await own.order([own.payment('0.01')])).body.code, 'limit_exceeded');
  const use = async () => (await service.operator('GET', `/clients/${own.clientId}/daily-use`)).text;
  const orders = '"orders":[{"currency":"EUR","amount":545.00}]';
  assert.ok(
    (await use()).includes(`"limit":{"amount":1000.00,"currency":"USD"},"used":1000.00,${orders}`),
    await use(),
  );
  await limit({ amount: 1_000_000, currency: 'JPY' });
  assert.ok((await use()).includes(`"currency":"JPY"},"used":null,${orders}`), await use());
  const missing = await own.order([own.payment(1)]);
  assert.deepEqual([missing.status, missing.body.code], [409, 'exchange_rate_missing'], missing.text);
  await limit(null);
  assert.ok((await use()).includes(`"limit":null,"used":null,${orders}`), await use());
  assert.equal((await own.order([own.payment(1)])).status, 201);
  assert.equal((await own.paid(before)).status, 'Validating beneficiary information');
});

test('a payee that its client changes at the same moment is paid as it is then, or is not changed', async () => {
  const own = await ordersWorld(service);
  for (let round = 0; round < 12; round++) {
    const name = `Payee ${round}`;
    const [made, changed] = await Promise.all([
      own.order([own.payment(1)]),
      own.ask('PATCH', `/beneficiaries/${own.beneficiaryId}`, { name }),
    ]);
    assert.equal(made.status, 201, made.text);
    const { payment_id: id } = made.body[0];
    if (changed.status !== 204) assert.equal(changed.body.code, 'beneficiary_in_use', changed.text);
    else assert.equal((await own.paid(id)).beneficiary_name, name);
    assert.equal((await own.ask('DELETE', `/payments/${id}`)).status, 204);
  }
});

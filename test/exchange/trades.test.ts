import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { sellAmount } from '../../src/exchange/drawdown.ts';
import { inverted, ratioOf, rounded, times } from '../../src/values/ratio.ts';
import { published } from '../world/change-feed.ts';
import { createWorld } from '../world/client.ts';
import { createExchange, FX_OPEN, moveClock, refused } from '../world/exchange.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Trades that clients book, draw down and read (instructions, 7). */
const seed = Number(process.env.SEED ?? 20_261_124);
let service: TestService;
let exchange: Awaited<ReturnType<typeof createExchange>>;
let account: number;
let euros: number;
before(async () => {
  service = await startTestService();
  exchange = await createExchange(service);
  // A busy machine does not let a quote expire.
  await exchange.put('/pricing', { quote_seconds: 600 });
  account = await exchange.fund('GBP', '25000.00');
  euros = await exchange.fund('EUR', '100.00');
});
after(() => service?.stop());

const ORDER = { reason: 'payment_for_goods' };
function book(quoteId: string, fields: object = {}, options: { token?: string; key?: string } = {}): Promise<Answer> {
  return exchange.call('POST', `/trades?quote_id=${quoteId}`, { ...ORDER, ...fields }, options);
}
const get = async (path: string) => {
  const answer = await exchange.call('GET', path);
  assert.equal(answer.status, 200, answer.text);
  return answer;
};
async function booked(fields: object = {}, quote: object = {}) {
  const answer = await book((await exchange.quoted(quote)).quote_id, fields);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}
const ofOperator = async (path: string) => (await service.operator('GET', path)).body;
const available = async () => (await ofOperator(`/currency-accounts/${account}`)).available;
const setStatus = (id: string, status: string) => service.operator('PATCH', `/trades/${id}`, { status });
const countOf = (answers: Answer[], status: number) => answers.filter((each) => each.status === status).length;

describe('a booking', () => {
  test('uses the quote, books its trade, holds, and says where to pay in', async () => {
    const paidInto = {
      ...{
        currency: 'GBP',
        country: 'GB',
        financial_institution_name: 'National Bank',
        account_holder_name: 'Lombard',
      },
      domestic: { account_number: '31926819', bank_identifier: '601613', bank_identifier_type: 'GBDSC' },
      international: {
        ...{ account_number: 'GB29NWBK60161331926819', account_number_type: 'IBAN' },
        ...{ bank_identifier: 'NWBKGB2L', bank_identifier_type: 'SWBIC' },
      },
      ...{ bank_address_line_1: '1 Bank Street', bank_city: 'London' },
    };
    await service.operator('POST', '/account-details', { ...paidInto, financial_institution_name: 'Of all' });
    await service.operator('POST', '/account-details', { ...paidInto, client_id: exchange.clientId });
    await exchange.put('/currencies/GBP', { cutoff_time: '15:30' });
    const quote = await exchange.quoted();
    const { cursor } = await ofOperator('/changes?after=now');
    const order = { reference: 'Machines', external_reference_id: 'PO 4711', funding_account_id: account };
    const { status, body, text, headers } = await book(quote.quote_id, { ...order, trade_type: 7 });
    assert.equal(status, 201, text);
    const { trade_id: id, ...rest } = body;
    assert.deepEqual(rest, {
      bank_account: {
        ...{ account_number: '31926819', iban: 'GB29NWBK60161331926819', swift_code: 'NWBKGB2L' },
        ...{ bank_identifier: '601613', bank_identifier_type: 'GBDSC', bank_name: 'National Bank' },
        ...{
          bank_address_line_1: '1 Bank Street',
          bank_address_line_2: null,
          bank_city: 'London',
          bank_post_code: null,
        },
      },
      maturity_date: '2026-11-26T15:30:00+00:00',
      reference_for_payment: id,
    });
    assert.equal(headers.get('location'), `${service.api}/trades/${id}?client_id=${exchange.clientId}`);
    const { body: trade } = await get(`/trades/${id}`);
    assert.deepEqual(
      [
        trade.status,
        trade.trade_type,
        trade.rate,
        trade.buy_amount,
        trade.sell_amount,
        trade.reference,
        trade.rate_symbol,
      ],
      ['Created', 'spot', 1.179075, 11_790.75, 10_000, 'Machines', 'GBPEUR'],
    );
    assert.equal('source' in trade || 'reason' in trade, false);
    assert.deepEqual((await get(`/trades/${id}/funds`)).body, {
      ...{ trade_id: id, status: 'Created', buy_currency: 'EUR', buy_amount: '11790.75', allocated_amount: '0.00' },
      ...{ unallocated_amount: '11790.75', sell_currency: 'GBP', sell_amount: '10000', held_amount: '10000.00' },
    });
    assert.equal(await available(), '15000.00');
    const now = (await get(`/quotes/${quote.quote_id}`)).body;
    assert.deepEqual([now.status, now.trade_id], ['used', id]);
    const seen = await ofOperator(`/trades/${id}`);
    assert.deepEqual(
      [seen.source, seen.reason, seen.external_reference_id, seen.funding_account_id, seen.quote_id, seen.value_date],
      ['client', 'payment_for_goods', 'PO 4711', account, quote.quote_id, '2026-11-26'],
    );
    await published(service);
    const { changes } = await ofOperator(`/changes?after=${cursor}&entities=quote,trade`);
    const told = changes.map(
      ({ entity, action, data }: { entity: string; action: string; data: { trade_id: string } }) => [
        ...[entity, action, data.trade_id],
      ],
    );
    // What was there before may not have been published.
    assert.deepEqual(told.slice(-2), [
      ['quote', 'update', id],
      ['trade', 'create', id],
    ]);
    assert.deepEqual(changes.at(-1).data, seen);
    assert.equal((await setStatus(id, 'Cancelled')).status, 200);
    assert.equal(await available(), '25000.00');
  });

  test('is refused in the order of the reasons, and leaves the quote open', async () => {
    const { quote_id: id } = await exchange.quoted({ amount: 20_000 });
    const unknown = await book('00000000000000000000000000000000', { funding_account_id: 999_999 });
    refused(unknown, 404, 'quote_not_found', 'query.quote_id');
    refused(await book(id, { funding_account_id: 999_999 }), 404, 'currency_account_not_found');
    const faults = await book(id, { reason: 'fun', reference: '', currency: null });
    assert.deepEqual(
      faults.body.errors.map((each: { code: string; details: string }) => `${each.code} ${each.details.split(':')[0]}`),
      ['invalid_format body.reason', 'invalid_format body.reference', 'unknown_field body.currency'],
    );
    refused(await exchange.call('POST', '/trades', ORDER), 400, 'missing_parameter', 'query.quote_id');
    const taken = { external_reference_id: 'PO 4711' };
    refused(await book(id, { ...taken, funding_account_id: euros }), 409, 'already_exists');
    refused(await book(id, { funding_account_id: euros }), 409, 'currency_mismatch');
    const held = await booked({ funding_account_id: account });
    refused(
      await book(id, { funding_account_id: account }),
      409,
      'insufficient_funds',
      'available: 15000.00, needed: 20000, currency: GBP',
    );
    await setStatus(held.trade_id, 'Rejected');
    const reader = await exchange.hireTrader(['can_manage_payments']);
    refused(await book(id, {}, { token: reader.token }), 403, 'permission_denied');
    assert.equal((await get(`/quotes/${id}`)).body.status, 'open');
    // Another contact who may trade books it, and FX, rates and limits do not matter any more.
    await exchange.put('/fx-availability', { mode: 'closed' });
    await service.operator('PATCH', `/clients/${exchange.clientId}`, { fx_enabled: false });
    await exchange.put('/currencies/EUR', { maximum: 1 });
    const colleague = await exchange.hireTrader();
    assert.equal((await book(id, {}, { token: colleague.token })).status, 201);
    refused(await book(id, taken), 409, 'quote_used');
    await exchange.put('/fx-availability', { mode: 'auto' });
    await service.operator('PATCH', `/clients/${exchange.clientId}`, { fx_enabled: true });
    await exchange.put('/currencies/EUR', {});
    const late = await exchange.quoted();
    await moveClock(service, late.expires_at);
    refused(await book(late.quote_id, taken), 409, 'quote_expired');
    await moveClock(service, FX_OPEN);
    const other = await createWorld(service, 'Other Ltd');
    const stranger = await other.hire('Eve', { password: 'correct horse battery staple' }, ['can_trade']);
    const token = await service.signIn(stranger.email, 'correct horse battery staple');
    const path = `/trades?quote_id=${late.quote_id}&client_id=${other.clientId}`;
    refused(await service.client(token, 'POST', path, { body: ORDER }), 404, 'quote_not_found');
  });

  test('of a forward has a reason of its own', async () => {
    await exchange.put('/forward-points', {
      sell_currency: 'GBP',
      buy_currency: 'EUR',
      points: [{ days: 90, points: 0 }],
    });
    const { quote_id: id, value_date } = await exchange.quoted({ trade_type: 'forward', value_date: '2026-12-24' });
    refused(await book(id, { reason: 'not_related_to_goods_or_services' }), 400, 'invalid_body', 'body.reason');
    const { body } = await book(id);
    const trade = await ofOperator(`/trades/${body.trade_id}`);
    assert.deepEqual([trade.trade_type, trade.value_date], ['forward', value_date]);
  });

  test('of one quote is one trade, at any concurrency', async () => {
    const { quote_id: id } = await exchange.quoted({ amount: 5 });
    const answers = await Promise.all(Array.from({ length: 12 }, () => book(id)));
    assert.deepEqual([countOf(answers, 201), countOf(answers, 409)], [1, 11]);
    for (const each of answers) if (each.status === 409) assert.equal(each.body.code, 'quote_used');
    const trades = (await get('/trades?page_size=1000')).body;
    const { trade_id: used } = (await get(`/quotes/${id}`)).body;
    assert.equal(trades.filter((each: { trade_id: string }) => each.trade_id === used).length, 1);
  });

  test('repeated with its key is answered again', async () => {
    const { quote_id: id } = await exchange.quoted({ amount: 5 });
    const key = randomUUID();
    const twice = await Promise.all([book(id, {}, { key }), book(id, {}, { key })]);
    assert.deepEqual([twice[0].status, twice[0].text], [201, twice[1].text]);
    // A refusal leaves its key free.
    const again = randomUUID();
    refused(await book(id, {}, { key: again }), 409, 'quote_used');
    const { quote_id: other } = await exchange.quoted({ amount: 5 });
    assert.equal((await book(other, {}, { key: again })).status, 201);
  });

  test('holds what is there, exactly so often as it suffices', async () => {
    const before = Number(await available());
    const quotes = await Promise.all(Array.from({ length: 10 }, () => exchange.quoted({ amount: 4_000 })));
    const answers = await Promise.all(quotes.map(({ quote_id: id }) => book(id, { funding_account_id: account })));
    const most = Math.floor(before / 4_000);
    assert.deepEqual([countOf(answers, 201), countOf(answers, 409)], [most, 10 - most]);
    assert.equal(Number(await available()), before - most * 4_000);
    const trades = answers.filter(({ status }) => status === 201).map(({ body }) => body.trade_id);
    await Promise.all(trades.map((id) => setStatus(id, 'Cancelled')));
    assert.equal(Number(await available()), before);
    refused(await setStatus(trades[0], 'Created'), 409, 'transition_not_allowed');
  });

  test('with one reference is made once at any concurrency, drawdowns included', async () => {
    const quotes = await Promise.all(Array.from({ length: 4 }, () => exchange.quoted({ amount: 5 })));
    const fields = { external_reference_id: randomUUID() };
    const answers = await Promise.all(quotes.map(({ quote_id: id }) => book(id, fields)));
    assert.deepEqual([countOf(answers, 201), countOf(answers, 409)], [1, 3]);
    for (const each of answers)
      if (each.status === 409) refused(each, 409, 'already_exists', 'body.external_reference_id');
    const statuses = await Promise.all(
      quotes.map(async ({ quote_id: id }) => (await get(`/quotes/${id}`)).body.status),
    );
    assert.equal(statuses.filter((status) => status === 'open').length, 3);
  });
});

test('a sell amount of the institution has the decimals of its currency', async () => {
  const trade = (fields: object) =>
    service.operator('POST', '/trades', {
      ...{ client_id: exchange.clientId, contact_id: exchange.trader.contactId, buy_currency: 'EUR' },
      ...{ buy_amount: 100, rate: 3, ...fields },
    });
  for (const [sell_currency, amount] of [
    ['GBP', '33.33'],
    ['JPY', '33'],
    ['KWD', '33.333'],
  ]) {
    const { status, text } = await trade({ sell_currency });
    assert.equal(status, 201, text);
    assert.ok(text.includes(`"sell_amount":${amount},`), text);
  }
  refused(await trade({ sell_currency: 'JPY', sell_amount: 33.5 }), 400, 'invalid_body', 'body.sell_amount');
  assert.equal((await trade({ sell_currency: 'JPY', sell_amount: 34 })).status, 201);

  // The institution may set others.
  await exchange.put('/currencies/JPY', { decimals: 1 });
  const set = await trade({ sell_currency: 'JPY' });
  assert.ok(set.text.includes('"sell_amount":33.3,'), set.text);
  refused(await trade({ sell_currency: 'JPY', sell_amount: 33.55 }), 400, 'invalid_body', 'body.sell_amount');
  assert.equal((await trade({ sell_currency: 'JPY', sell_amount: 33.5 })).status, 201);
  await exchange.put('/currencies/JPY', {});
});

describe('a list of trades', () => {
  test('is in the order of booking, filtered and paged', async () => {
    const first = await booked({ external_reference_id: 'first of the list' }, { amount: 5 });
    const second = await booked({}, { amount: 5, buy_currency: 'USD' });
    const ids = async (query: string) => {
      const { body, headers } = await get(`/trades?${query}`);
      assert.equal(headers.get('x-total-count'), String(query.includes('page_size=1&') ? 2 : body.length));
      return body.map((each: { trade_id: string }) => each.trade_id);
    };
    assert.deepEqual((await ids('page_size=1000')).slice(-2), [first.trade_id, second.trade_id]);
    assert.deepEqual(await ids('external_reference_id=first%20of%20the%20list'), [first.trade_id]);
    assert.deepEqual(await ids('buy_currency=USD'), [second.trade_id]);
    assert.deepEqual(await ids('buy_currency=USD&trade_type=forward,spot&status=Created,Closed'), [second.trade_id]);
    assert.deepEqual(await ids('buy_currency=USD&status=Closed'), []);
    assert.deepEqual(await ids('buy_currency=USD&status=Closed&status=Created'), [second.trade_id]);
    assert.deepEqual(await ids(`mass_payment_id=${randomUUID()}`), []);
    await booked({}, { amount: 5, buy_currency: 'USD' });
    assert.deepEqual(await ids('page_size=1&page=1&buy_currency=USD'), [second.trade_id]);
    for (const query of ['status=Open', 'trade_type=spot,', 'trade_type=swap', 'buy_currency=usd', 'mass_payment_id=x'])
      refused(await exchange.call('GET', `/trades?${query}`), 400, 'invalid_parameter', `query.${query.split('=')[0]}`);
    refused(await exchange.call('GET', '/trades/none'), 404, 'trade_not_found');
    refused(await exchange.call('GET', '/trades/none/funds'), 404, 'trade_not_found');
    const payment = await exchange.world.pay({ amount: 123_456 });
    assert.equal(payment.status, 201, payment.text);
    const { body: funds } = await get(`/trades/${exchange.world.tradeId}/funds`);
    assert.deepEqual([funds.allocated_amount, funds.unallocated_amount], ['123456.00', '-23456.00']);
  });
});

describe('a drawdown', () => {
  const open = async (fields: object = {}) => {
    const { body } = await service.operator('POST', '/trades', {
      ...{ client_id: exchange.clientId, contact_id: exchange.trader.contactId, trade_type: 'window_forward' },
      ...{ buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 1000, rate: 1.3, sell_amount: 769.23 },
      ...{ maturity_date: '2026-12-18T12:00:00Z', ...fields },
    });
    return body.trade_id as string;
  };
  const draw = (id: string, fields: object = {}, key?: string) =>
    exchange.call('POST', `/trades/${id}/drawdowns`, { buy_amount: '250', ...ORDER, ...fields }, { key });

  test('takes a part of a window forward, at its rate', async () => {
    const id = await open();
    const first = await draw(id, { buy_amount: '333.33', funding_account_id: account, value_date: '2026-12-01' });
    assert.equal(first.status, 201, first.text);
    const { body: child } = await get(`/trades/${first.body.trade_id}`);
    assert.deepEqual(
      [child.trade_type, child.parent_trade_id, child.rate, child.buy_amount, child.sell_amount, child.maturity_date],
      ['drawdown', id, 1.3, 333.33, 256.41, '2026-12-01T15:30:00+00:00'],
    );
    assert.equal((await get(`/trades/${child.trade_id}/funds`)).body.held_amount, '256.41');
    assert.equal((await get(`/trades/${id}/funds`)).body.allocated_amount, '333.33');
    assert.equal((await draw(id, { buy_amount: '333.33' })).status, 201);
    const last = await draw(id, { buy_amount: '333.34' });
    const sums = (await get(`/trades?parent_trade_id=${id}`)).body.map(
      (each: { sell_amount: number }) => each.sell_amount,
    );
    assert.deepEqual(sums, [256.41, 256.41, 256.41]);
    refused(await draw(id, { buy_amount: '0.01' }), 409, 'trade_amount_exceeded', 'available: 0.00, needed: 0.01');
    await setStatus(last.body.trade_id, 'Cancelled');
    assert.equal((await draw(id, { buy_amount: '333.34' })).status, 201);
    await setStatus(child.trade_id, 'Rejected');
  });

  test('is refused in the order of the reasons', async () => {
    refused(await draw(exchange.world.tradeId), 409, 'transition_not_allowed');
    refused(await draw(exchange.world.tradeId, { buy_amount: '0.001' }), 400, 'invalid_body', 'body.buy_amount');
    refused(await draw('none'), 404, 'trade_not_found');
    const id = await open();
    refused(await draw(id, { funding_account_id: 999_999 }), 404, 'currency_account_not_found');
    const { body } = await draw(id, {
      ...{ buy_amount: '0.001', reason: 'not_related_to_goods_or_services', value_date: '2026-12-19', extra: 1 },
    });
    assert.deepEqual(
      body.errors.map((each: { details: string }) => each.details.split(':')[0]),
      ['body.buy_amount', 'body.reason', 'body.value_date', 'body.extra'],
    );
    refused(await draw(await open({ maturity_date: '2026-11-25' })), 400, 'invalid_body', 'body.value_date');
    const taken = { external_reference_id: 'PO 4711' };
    await setStatus(id, 'Closed');
    refused(await draw(id, taken), 409, 'trade_not_open');
    await setStatus(id, 'Created');
    refused(await draw(id, { ...taken, funding_account_id: euros }), 409, 'already_exists');
    refused(await draw(id, { buy_amount: '5000', funding_account_id: euros }), 409, 'currency_mismatch');
    refused(await draw(id, { buy_amount: '1000.01' }), 409, 'trade_amount_exceeded');
    const cheap = await open({ rate: 1000, sell_amount: 1, buy_amount: 1000 });
    refused(await draw(cheap, { buy_amount: '0.01' }), 409, 'amount_out_of_range', 'body.buy_amount');
    const dear = await open({ rate: 0.001, sell_amount: 1_000_000 });
    refused(await draw(dear, { funding_account_id: account }), 409, 'insufficient_funds');
  });

  test('is made so often as its trade suffices, at any concurrency', async () => {
    const id = await open();
    // Nine that wait for each other on a cluster may take longer than one may: such a call is sent again.
    const insist = (key: string) =>
      until(async () => {
        const answer = await draw(id, {}, key);
        return answer.status !== 502 && answer;
      });
    const answers = await Promise.all(Array.from({ length: 9 }, () => insist(randomUUID())));
    assert.deepEqual([countOf(answers, 201), countOf(answers, 409)], [4, 5]);
    const drawn = (await get(`/trades?parent_trade_id=${id}`)).body as { sell_amount: number }[];
    const sum = drawn.reduce((total, { sell_amount: amount }) => total + Math.round(amount * 100), 0);
    assert.equal(sum, 76_923);
  });

  test(`sells together what its trade sells (seed ${seed})`, () => {
    const cents = (value: number) => (value / 100).toFixed(2);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5_000_000 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 5_000_000 }).map((units) => (units / 10_000).toFixed(4)),
        fc.constantFrom(0, 2, 3),
        (parts, rate, decimals) => {
          const bought = cents(parts.reduce((total, part) => total + part, 0));
          const sold = rounded(times(ratioOf(bought), inverted(ratioOf(rate))), decimals, 'half-even');
          let [drawn, taken] = [0, 0n];
          const unit = 10n ** BigInt(decimals);
          for (const part of parts) {
            const parent = {
              ...{ rate, buy_amount: bought, sell_amount: sold, drawn_buy: cents(drawn) },
              drawn_sell: rounded({ numerator: taken, denominator: unit }, decimals, 'down'),
            };
            const own = sellAmount(parent, cents(part), decimals);
            assert.ok(!own.startsWith('-'), own);
            taken += BigInt(own.replace('.', ''));
            drawn += part;
          }
          assert.equal(rounded({ numerator: taken, denominator: unit }, decimals, 'down'), sold);
        },
      ),
      { seed, numRuns: 2_000 },
    );
  });
});

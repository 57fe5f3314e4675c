import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { ONE_CELL } from '../world/cells.ts';
import { createWorld } from '../world/client.ts';
import { createExchange, FX_OPEN, moveClock, refused } from '../world/exchange.ts';
import { type Answer, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** What exchanges cost (instructions, 7). */
let service: TestService;
let exchange: Awaited<ReturnType<typeof createExchange>>;
let reader: { token: string };

before(async () => {
  service = await startTestService();
  exchange = await createExchange(service);
  reader = { token: await exchange.world.signIn() };
});
after(() => service?.stop());

const put = (path: string, body: unknown) => exchange.put(path, body);
const ask: typeof exchange.ask = (...asked) => exchange.ask(...asked);
const quoted = (fields: object = {}) => exchange.quoted(fields);
const read = (id: string, token = exchange.trader.token) => exchange.call('GET', `/quotes/${id}`, undefined, { token });

describe('a price', () => {
  test('is an estimate for everybody, and a quote for who may trade', async () => {
    const estimate = await ask({}, 'estimate', { token: reader.token });
    assert.equal(estimate.status, 200, estimate.text);
    assert.match(estimate.text, /"sell_amount":10000,/);
    const terms = {
      ...{ inverse_rate: 0.84812247, inverse_rate_symbol: 'EURGBP', buy_amount: 11_790.75, buy_currency: 'EUR' },
      ...{ sell_amount: 10_000, sell_currency: 'GBP', fee_amount: 0, fee_currency: 'GBP' },
      ...{ value_date: '2026-11-26', warning: null },
    };
    assert.deepEqual(estimate.body, {
      ...{ quoted_rate: null, quoted_rate_symbol: null, estimated_rate: 1.179075, estimated_rate_symbol: 'GBPEUR' },
      ...terms,
    });
    const { quote_id: id, created_at, expires_at, book_trade, ...quote } = await quoted();
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.deepEqual(quote, {
      ...{ quoted_rate: 1.179075, quoted_rate_symbol: 'GBPEUR', estimated_rate: null, estimated_rate_symbol: null },
      ...terms,
      ...{ trade_type: 'spot', operation: 'sell', contact_id: exchange.trader.contactId },
    });
    assert.match(created_at, /^2026-11-24T10:\d\d:\d\d\+00:00$/);
    assert.equal(Date.parse(expires_at) - Date.parse(created_at), 30_000);
    assert.equal(book_trade, `${service.api}/trades?client_id=${exchange.clientId}&quote_id=${id}`);
    refused(await ask({}, 'quote', { token: reader.token }), 403, 'permission_denied', 'the contact needs can_trade');
    refused(await ask({}, ''), 400, 'invalid_parameter', 'query.quote_type');
    refused(await ask({}, 'firm'), 400, 'invalid_parameter', 'query.quote_type');
  });

  test('follows from the rates, as in the vectors of the contract', async () => {
    for (const [fields, rate, amounts] of [
      [
        { operation: 'buy', amount: '12500.00' },
        1.179075,
        '"buy_amount":12500.00,"buy_currency":"EUR","sell_amount":10601.53',
      ],
      [
        { amount: '1000.55', buy_currency: 'JPY' },
        190.41315,
        '"buy_amount":190518,"buy_currency":"JPY","sell_amount":1000.55',
      ],
      [
        { amount: 1_000_000, sell_currency: 'JPY', buy_currency: 'GBP' },
        0.005199352,
        '"buy_amount":5199.35,"buy_currency":"GBP","sell_amount":1000000',
      ],
      // Over the pound, which is the only base that has both.
      [{ amount: 1000, sell_currency: 'EUR', buy_currency: 'USD' }, 1.049578, '"buy_amount":1049.58,'],
    ] as const) {
      const { status, body, text } = await ask(fields, 'estimate');
      assert.equal(status, 200, text);
      assert.equal(body.estimated_rate, rate);
      assert.ok(text.includes(amounts), `${text} has ${amounts}`);
    }
  });

  test('has the spread of its direction: of client and pair, of the client, of the pair, the default', async () => {
    const rate = async () => (await ask({}, 'estimate')).body.estimated_rate;
    const pair = (spread_bps: number) => [{ sell_currency: 'GBP', buy_currency: 'EUR', spread_bps }];
    const other = [{ sell_currency: 'EUR', buy_currency: 'GBP', spread_bps: 5_000 }];
    await put('/pricing', { default_spread_bps: 100, spreads: other });
    assert.equal(await rate(), 1.17315);
    await put('/pricing', { default_spread_bps: 100, spreads: pair(200) });
    assert.equal(await rate(), 1.1613);
    await put(`/clients/${exchange.clientId}/pricing`, { spread_bps: 0, spreads: other });
    assert.equal(await rate(), 1.185);
    await put(`/clients/${exchange.clientId}/pricing`, { spread_bps: 0, spreads: pair(1_000) });
    assert.equal(await rate(), 1.0665);
    await put(`/clients/${exchange.clientId}/pricing`, {});
    await put('/pricing', {});
  });

  test('of a forward has the points of its day', async () => {
    const forward = (fields: object) => ask({ trade_type: 'forward', amount: 1_000_000, ...fields }, 'estimate');
    await put('/pricing', { default_spread_bps: 0 });
    const rates = { EUR: 1.185, JPY: 191.37, USD: 1.25 };
    refused(await forward({}), 409, 'exchange_rate_missing');
    const points = [
      { days: 30, points: -0.003 },
      { days: 10, points: 0.001 },
    ];
    const set = await put('/forward-points', { sell_currency: 'GBP', buy_currency: 'EUR', points });
    assert.deepEqual(set.points, points.toReversed());
    // Friday, 3 days from today, on the line from nothing to 0.001.
    const first = await forward({});
    assert.deepEqual([first.body.value_date, first.body.estimated_rate], ['2026-11-27', 1.1853]);
    const between = await forward({ value_date: '2026-12-14' });
    assert.equal(between.body.estimated_rate, 1.184);
    assert.equal((await forward({ value_date: '2026-12-24' })).body.estimated_rate, 1.182);
    refused(await forward({ value_date: '2026-12-25' }), 409, 'exchange_rate_missing');
    // The opposite pair has none of its own: 1 / 1.184.
    const inverse = await forward({ value_date: '2026-12-14', sell_currency: 'EUR', buy_currency: 'GBP' });
    assert.equal(inverse.body.estimated_rate, 0.84459459);
    await put('/forward-points', { sell_currency: 'GBP', buy_currency: 'EUR', points: [{ days: 30, points: -30 }] });
    refused(await forward({ value_date: '2026-12-24' }), 409, 'amount_out_of_range');
    // Nothing is left of the opposite pair's, but that it is too old is said first.
    await put('/forward-points', { sell_currency: 'GBP', buy_currency: 'EUR', points: [{ days: 30, points: -1.185 }] });
    const nothing = { value_date: '2026-12-24', sell_currency: 'EUR', buy_currency: 'GBP' };
    refused(await forward(nothing), 409, 'amount_out_of_range');
    await put('/pricing', { rate_max_age_seconds: 1 });
    await put('/exchange-rates', { base_currency: 'GBP', rates, as_of: '2026-11-24T09:00:00Z' });
    refused(await forward(nothing), 409, 'exchange_rate_stale');
    await put('/exchange-rates', { base_currency: 'GBP', rates });
    await put('/forward-points', { sell_currency: 'GBP', buy_currency: 'EUR', points: [] });
    const listed = await service.operator('GET', '/forward-points');
    assert.deepEqual(listed.body, []);
    await put('/pricing', {});
  });

  test('is moved by an integrator in the sandbox', async () => {
    const move = (rate: object, token = reader.token) =>
      exchange.call('PUT', '/sandbox/exchange-rate', rate, { token });
    const pair = { sell_currency: 'EUR', buy_currency: 'GBP' };
    const moved = await move({ ...pair, rate: 0.9 });
    assert.equal(moved.status, 200, moved.text);
    assert.deepEqual(moved.body, { ...pair, rate: 0.9 });
    const wrong = await move({ sell_currency: 'EUR', rate: '0.9', by: 1 });
    assert.deepEqual(
      wrong.body.errors.map(({ details }: { details: string }) => details.split(':')[0]),
      ['body.buy_currency', 'body.rate', 'body.by'],
    );
    // The inverse of the new one: the rate of the opposite pair is gone.
    assert.equal((await ask({}, 'estimate')).body.estimated_rate, 1.1055555);
    const tables = (await service.operator('GET', '/exchange-rates')).body;
    assert.deepEqual(
      tables.map((each: { base_currency: string; rates: object }) => [each.base_currency, each.rates]),
      [
        ['EUR', { GBP: 0.9 }],
        ['GBP', { JPY: 191.37, USD: 1.25 }],
      ],
    );
    for (const rate of [{ ...pair, rate: 0 }, { ...pair, rate: '1' }, { ...pair, buy_currency: 'EUR', rate: 1 }, pair])
      refused(await move(rate), 400, 'invalid_body', 'body.');
    assert.equal((await move({ sell_currency: 'GBP', buy_currency: 'EUR', rate: 1.185 })).status, 200);
    assert.equal((await ask({}, 'estimate')).body.estimated_rate, 1.179075);
  });

  test('is refused with all faults of its request', async () => {
    const faults = async (fields: object) => {
      const { status, body, text } = await ask(fields, 'estimate');
      assert.deepEqual([status, body.code], [400, 'invalid_body'], text);
      return body.errors.map((each: { code: string; details: string }) => `${each.code} ${each.details.split(':')[0]}`);
    };
    assert.deepEqual(await faults({ amount: undefined, operation: 'swap', currency: 'EUR' }), [
      'required body.amount',
      'invalid_format body.operation',
      'unknown_field body.currency',
    ]);
    assert.deepEqual(await faults({ trade_type: undefined }), ['required body.trade_type']);
    assert.deepEqual(await faults({ trade_type: null, value_date: '2027-11-26' }), ['required body.trade_type']);
    assert.deepEqual(await faults({ amount: 100.001, buy_currency: 'eur', value_date: '2026-11-31' }), [
      'invalid_format body.amount',
      'invalid_format body.buy_currency',
      'invalid_format body.value_date',
    ]);
    assert.deepEqual(await faults({ amount: '1.000', buy_currency: 'GBP', value_date: '2026-11-27' }), [
      'invalid_format body.amount',
      'invalid_format body.sell_currency',
      'invalid_format body.value_date',
    ]);
    assert.deepEqual(await faults({ amount: 1.5, operation: 'buy', buy_currency: 'JPY' }), [
      'invalid_format body.amount',
    ]);
    for (const amount of ['0', '-1', '1e3', '1234567890123456'])
      assert.deepEqual(await faults({ amount }), ['invalid_format body.amount'], amount);
  });

  test('moves to the next possible day, and says so', async () => {
    await put('/currencies/EUR', { holidays: [{ date: '2026-11-26' }] });
    const { value_date: day, warning } = await quoted({ value_date: '2026-11-25' });
    assert.equal(day, '2026-11-27');
    assert.equal(warning, 'value_date: 2026-11-25 is before the first possible day of a spot; 2026-11-27 is used');
    await put('/currencies/EUR', {});
  });

  test('is refused in the order of the reasons', async () => {
    const client = (fields: object) => service.operator('PATCH', `/clients/${exchange.clientId}`, fields);
    const fx = (mode: string) => put('/fx-availability', { mode });
    await put('/currencies/EUR', { maximum: 100 });
    await put('/pricing', { rate_max_age_seconds: 60 });
    await put('/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185 }, as_of: '2026-11-24T09:00:00Z' });
    await put(`/clients/${exchange.clientId}/pricing`, {
      currencies: [{ currency: 'EUR', buy_allowed: false }, { currency: 'GBP' }],
    });
    await fx('closed');
    await client({ fx_enabled: false });
    refused(await ask(), 409, 'fx_not_enabled');
    await client({ fx_enabled: true });
    refused(await ask(), 409, 'fx_closed');
    refused(await ask({}, 'estimate'), 409, 'currency_not_allowed', 'body.buy_currency');
    await put(`/clients/${exchange.clientId}/pricing`, { currencies: [{ currency: 'EUR' }, { currency: 'CHF' }] });
    refused(await ask({}, 'estimate'), 409, 'currency_not_allowed', 'body.sell_currency');
    refused(await ask({ sell_currency: 'CHF' }, 'estimate'), 409, 'exchange_rate_missing');
    await put(`/clients/${exchange.clientId}/pricing`, {});
    // No estimate is stale while FX is closed.
    refused(await ask({}, 'estimate'), 409, 'amount_out_of_range');
    await fx('auto');
    refused(await ask({}, 'estimate'), 409, 'exchange_rate_stale');
    refused(await ask(), 409, 'exchange_rate_stale');
    refused(await ask({ buy_currency: 'RUB' }), 409, 'currency_not_allowed');
    await put('/pricing', {});
    refused(await ask(), 409, 'amount_out_of_range', 'body.amount: 11790.75 EUR must be at most 100');
    await put('/currencies/EUR', {});
    refused(await ask({ amount: 0.01, buy_currency: 'BTN' }), 409, 'exchange_rate_missing');
    refused(await ask({ amount: 1, sell_currency: 'JPY', buy_currency: 'EUR' }), 409, 'exchange_rate_missing');
    await put('/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185, JPY: 191.37, USD: 1.25 } });
  });
});

describe('a quote', () => {
  test('stays as it was promised, whatever the institution changes', async () => {
    const quote = await quoted();
    await put('/pricing', { default_spread_bps: 5_000, quote_seconds: 5 });
    await put('/currencies/EUR', { holidays: [{ date: '2026-11-26' }] });
    const { status, trade_id, ...kept } = (await read(quote.quote_id)).body;
    assert.deepEqual(kept, quote);
    assert.deepEqual([status, trade_id], ['open', null]);
    await put('/pricing', {});
    await put('/currencies/EUR', {});
    refused(await read(quote.quote_id.replace(/^./, 'x')), 404, 'quote_not_found');
    const other = await createWorld(service, 'Other Ltd', { fx_enabled: true });
    const stranger = await service.client(
      await other.signIn(),
      'GET',
      `/quotes/${quote.quote_id}?client_id=${other.clientId}`,
    );
    refused(stranger, 404, 'quote_not_found');
  });

  test('shows the institution how its rate was made, in the feed too; a client never sees it', async () => {
    await put('/exchange-rates', {
      ...{ base_currency: 'GBP', rates: { EUR: 1.185, JPY: 191.37, USD: 1.25 }, as_of: '2026-11-24T09:59:00Z' },
    });
    const { cursor } = (await service.operator('GET', '/changes?after=now')).body;
    const { text, body: quote } = await ask({ amount: 1_000_000, sell_currency: 'JPY', buy_currency: 'GBP' });
    assert.doesNotMatch(text, /mid|spread|as_of/);
    const seen = await service.operator('GET', `/quotes/${quote.quote_id}`);
    assert.deepEqual(
      [seen.body.mid, seen.body.spread_bps, seen.body.rate_as_of, seen.body.status, seen.body.client_id],
      [0.005225479438, 50, '2026-11-24T09:59:00+00:00', 'open', exchange.clientId],
    );
    const feed = await service.operator('GET', `/changes?after=${cursor}&entities=quote&wait=5`);
    const [change] = feed.body.changes;
    assert.deepEqual([change.entity, change.action, change.entity_id], ['quote', 'create', quote.quote_id]);
    assert.deepEqual(change.data, seen.body);
    const open = await service.operator('GET', `/quotes?client_id=${exchange.clientId}&status=open`);
    assert.deepEqual(open.body[0], seen.body);
    refused(await service.operator('GET', '/quotes/nobody'), 404, 'quote_not_found');
  });

  test('is open once for one key, until it expires', async () => {
    const key = randomUUID();
    const first = await ask({}, 'quote', { key });
    const again = await ask({}, 'quote', { key });
    assert.equal(again.text, first.text);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    refused(await ask({ amount: 5 }, 'quote', { key }), 409, 'idempotency_conflict');
    await moveClock(service, first.body.expires_at);
    assert.equal((await read(first.body.quote_id)).body.status, 'expired');
    const anew = await ask({ amount: 5 }, 'quote', { key });
    assert.equal(anew.status, 201, anew.text);
    assert.notEqual(anew.body.quote_id, first.body.quote_id);
    // An estimate has no key, not even a wrong one.
    const estimate = await ask({}, 'estimate', { key: 'k'.repeat(256) });
    assert.equal(estimate.headers.get('idempotency-replayed'), null);
    await moveClock(service, FX_OPEN);
  });

  test('is one of 20 open ones at most, at any concurrency', async () => {
    const busy = await exchange.hireTrader();
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask({}, 'quote', { token: busy.token })));
    assert.deepEqual(
      [201, 429].map((wanted) => answers.filter(({ status }) => status === wanted).length),
      [20, 10],
    );
    const late = answers.find(({ status }) => status === 429) as Answer;
    refused(late, 429, 'rate_limited');
    const wait = Number(late.headers.get('retry-after'));
    assert.ok(wait > 0 && wait <= 30, String(wait));
    // A refusal for another reason comes first, and other contacts have their own.
    refused(await ask({ buy_currency: 'RUB' }, 'quote', { token: busy.token }), 409, 'currency_not_allowed');
    assert.equal((await ask()).status, 201);
    await moveClock(service, new Date(Date.parse(FX_OPEN) + 60_000).toISOString());
    assert.equal((await ask({}, 'quote', { token: busy.token })).status, 201);
    await moveClock(service, FX_OPEN);
  });

  test('counts with those that the contact has for other clients of the cell', { skip: ONE_CELL }, async () => {
    const busy = await exchange.hireTrader();
    const other = { client_id: 'QUOTES2', client_name: 'Second', fx_enabled: true };
    assert.equal((await service.operator('POST', '/clients', other)).status, 201);
    const clients = [exchange.clientId, other.client_id].map((client_id) => ({
      client_id,
      permissions: ['can_trade'],
    }));
    assert.equal((await service.operator('PATCH', `/contacts/${busy.contactId}`, { clients })).status, 200);
    const body = { buy_currency: 'EUR', sell_currency: 'GBP', operation: 'buy', amount: 1, trade_type: 'spot' };
    const askOther = () =>
      service.client(busy.token, 'POST', `/quotes?quote_type=quote&client_id=${other.client_id}`, { body });
    await until(async () => (await askOther()).status === 201);
    const { rows } = await service.query('select count(*)::int as n from quotes where contact_id = $1', [
      busy.contactId,
    ]);
    for (let n = rows[0].n; n < 20; n += 1)
      assert.equal((await ask({}, 'quote', { token: busy.token })).status, 201, String(n));
    refused(await ask({}, 'quote', { token: busy.token }), 429, 'rate_limited');
    refused(await askOther(), 429, 'rate_limited');
  });

  test('can be read for 90 days', async () => {
    const quote = await quoted();
    await moveClock(service, '2027-02-21T10:00:00Z');
    assert.equal((await read(quote.quote_id)).status, 401);
    const token = await exchange.world.signIn();
    assert.equal((await read(quote.quote_id, token)).body.status, 'expired');
    await moveClock(service, '2027-02-23T10:00:00Z');
    refused(await read(quote.quote_id, await exchange.world.signIn()), 404, 'quote_not_found');
    refused(await service.operator('GET', `/quotes/${quote.quote_id}`), 404, 'quote_not_found');
    await moveClock(service, FX_OPEN);
  });
});

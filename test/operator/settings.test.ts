import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readOrderSettings } from '../../src/payments/order-settings.ts';
import { DEFAULT_RULES } from '../../src/payments/schemes.ts';
import { poolOfClient } from '../world/cells.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** What the institution sets for currencies, prices and schemes. */
let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

async function get(path: string) {
  const { status, body, text } = await service.operator('GET', path);
  assert.equal(status, 200, text);
  return body;
}

async function put(path: string, body: unknown) {
  const answer = await service.operator('PUT', path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Each is refused with a message about its field. */
async function refusals(path: string, bodies: [body: unknown, details: string][]) {
  const kept = await get(path);
  for (const [body, details] of bodies) {
    const { status, body: refused, text } = await service.operator('PUT', path, body);
    assert.deepEqual([status, refused.code], [400, 'invalid_body'], text);
    assert.ok(refused.details.startsWith(details), `${refused.details} begins with ${details}`);
    assert.equal(refused.errors[0].details, refused.details);
  }
  assert.deepEqual(await get(path), kept);
}

describe('settings of a currency', () => {
  const DEFAULTS = {
    ...{ decimals: 2, cutoff_days: 2, cutoff_time: null, cutoff_timezone: 'Europe/London' },
    ...{ weekend: [6, 7], holidays: [], minimum: null, maximum: null },
  };

  test('are the default ones until somebody sets them; a PUT replaces all of them', async () => {
    assert.deepEqual(await get('/currencies/CHF'), { currency: 'CHF', ...DEFAULTS });
    assert.equal((await get('/currencies/KWD')).decimals, 3);
    assert.deepEqual(await get('/currencies'), []);
    const given = {
      ...{ decimals: 0, cutoff_days: 1, cutoff_time: '15:30', cutoff_timezone: 'Asia/Tokyo', weekend: [7, 5] },
      holidays: [{ date: '2026-12-31', name: 'New Year’s Eve' }, { date: '2027-01-01' }],
    };
    const raw = JSON.stringify({ ...given, minimum: 0 }).replace(
      '"minimum":0',
      '"minimum":100.50,"maximum":123456789012345.10',
    );
    const set = await service.operator('PUT', '/currencies/CHF', undefined, {
      raw,
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(set.status, 200, set.text);
    const holidays = [...given.holidays.slice(0, 1), { date: '2027-01-01', name: null }];
    assert.match(set.text, /"minimum":100\.50,"maximum":123456789012345\.10/);
    const expected = {
      currency: 'CHF',
      ...given,
      weekend: [5, 7],
      holidays,
      minimum: 100.5,
      maximum: 123456789012345.1,
    };
    assert.deepEqual(set.body, expected);
    assert.deepEqual(await get('/currencies/CHF'), expected);
    assert.deepEqual(await get('/currencies'), [expected]);
    // Null is as left out.
    const reset = await put('/currencies/CHF', { decimals: null, holidays: null, cutoff_time: null, weekend: null });
    assert.deepEqual(reset, { currency: 'CHF', ...DEFAULTS });
  });

  test('refuse what makes no sense, and name the field', async () => {
    await refusals('/currencies/CHF', [
      [{ decimals: 5 }, 'body.decimals: must be at most 4'],
      [{ cutoff_days: 11 }, 'body.cutoff_days'],
      [{ cutoff_time: '24:00' }, 'body.cutoff_time: must be a time as 15:30'],
      [{ cutoff_timezone: 'Europe/Nowhere' }, 'body.cutoff_timezone: must be a zone'],
      [{ cutoff_timezone: '+01:00' }, 'body.cutoff_timezone: must be a zone'],
      [{ weekend: [6, 6] }, 'body.weekend[1]: must not be given twice'],
      [{ weekend: [1, 2, 3, 4, 5, 6, 7] }, 'body.weekend'],
      [{ weekend: [0] }, 'body.weekend[0]'],
      [{ holidays: [{ date: '2026-02-30' }] }, 'body.holidays[0].date'],
      [
        { holidays: [{ date: '2026-12-25' }, { date: '2026-12-25' }] },
        'body.holidays[1].date: must not be given twice',
      ],
      [{ minimum: 2, maximum: 1 }, 'body.minimum: must not be above maximum'],
      [{ minimum: -1 }, 'body.minimum'],
      [{ maximum: '100' }, 'body.maximum: must be a number'],
      [{ cutoff: '15:30' }, 'body.cutoff: is not a field'],
    ]);
    for (const path of ['/currencies/EURO', '/currencies/XQQ', '/currencies/eur']) {
      for (const method of ['GET', 'PUT']) {
        const answer = await service.operator(method, path, method === 'PUT' ? {} : undefined);
        assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_parameter'], answer.text);
      }
    }
  });

  test('each change of them is in the feed and in the audit trail', async () => {
    const { cursor } = await get('/changes?after=now');
    await put('/currencies/SEK', { cutoff_time: '09:00' });
    await put('/currencies/SEK', { cutoff_time: '09:00' });
    await put('/currencies/SEK', { cutoff_time: '10:00' });
    const { changes } = await get(`/changes?after=${cursor}&wait=5&entities=currency`);
    const rest = changes.length < 2 ? (await get(`/changes?after=${changes[0].cursor}&wait=5`)).changes : [];
    const told = [...changes, ...rest].map(({ entity_id, client_id, version, action, data }) => {
      return [entity_id, client_id, version, action, data.cutoff_time];
    });
    assert.deepEqual(told, [
      ['SEK', null, 1, 'create', '09:00'],
      ['SEK', null, 2, 'update', '10:00'],
    ]);
    const rows = await get('/audit?entity=currency&entity_id=SEK');
    assert.equal(rows.length, 3);
  });
});

describe('pricing', () => {
  const DEFAULTS = { quote_seconds: 30, default_spread_bps: 50, rate_max_age_seconds: 0, spreads: [] };

  test('of all clients has defaults, and is replaced as a whole', async () => {
    assert.deepEqual(await get('/pricing'), DEFAULTS);
    const spreads = [
      { sell_currency: 'GBP', buy_currency: 'EUR', spread_bps: 0 },
      { sell_currency: 'EUR', buy_currency: 'GBP', spread_bps: 5_000 },
    ];
    const set = { quote_seconds: 5, default_spread_bps: 0, rate_max_age_seconds: 60, spreads };
    assert.deepEqual(await put('/pricing', set), set);
    assert.deepEqual(await get('/pricing'), set);
    await refusals('/pricing', [
      [{ quote_seconds: 4 }, 'body.quote_seconds: must be at least 5'],
      [{ default_spread_bps: 5_001 }, 'body.default_spread_bps'],
      [{ spreads: [spreads[0], spreads[0]] }, 'body.spreads[1]: must not name a pair twice'],
      [{ spreads: [{ ...spreads[0], buy_currency: 'GBP' }] }, 'body.spreads[0].buy_currency: must differ'],
      [{ spreads: [{ ...spreads[0], spread_bps: 1.5 }] }, 'body.spreads[0].spread_bps'],
    ]);
    assert.deepEqual(await put('/pricing', {}), DEFAULTS);
  });

  test('of a client says in which currencies it may act', async () => {
    const { clientId } = await createWorld(service);
    const path = `/clients/${clientId}/pricing`;
    const unset = { client_id: clientId, spread_bps: null, spreads: [], currencies: null, default_currency: null };
    assert.deepEqual(await get(path), unset);
    const set = await put(path, {
      spread_bps: 30,
      currencies: [{ currency: 'EUR', pay_allowed: false }],
      default_currency: 'EUR',
    });
    const currencies = [{ currency: 'EUR', buy_allowed: true, sell_allowed: true, pay_allowed: false }];
    assert.deepEqual(set, { ...unset, spread_bps: 30, currencies, default_currency: 'EUR' });
    assert.deepEqual(await get(path), set);
    assert.deepEqual((await put(path, { currencies: [] })).currencies, []);
    await refusals(path, [
      [{ currencies: [{ currency: 'EUR' }, { currency: 'EUR' }] }, 'body.currencies[1].currency: must not name'],
      [{ currencies: [{ currency: 'XQQ' }] }, 'body.currencies[0].currency'],
      [{ default_currency: 'eur' }, 'body.default_currency'],
    ]);
    assert.deepEqual(await put(path, {}), unset);
    for (const method of ['GET', 'PUT']) {
      const none = await service.operator(method, '/clients/NOBODY/pricing', method === 'PUT' ? {} : undefined);
      assert.deepEqual([none.status, none.body.code], [404, 'client_not_found'], none.text);
    }
    const rows = await get(`/audit?entity=client_pricing&entity_id=${clientId}`);
    assert.equal(rows.length, 3);
  });
});

test('the table of schemes has a default, and is replaced as a whole', async () => {
  const shown = DEFAULT_RULES.map((rule) => ({
    ...rule,
    maximum: rule.maximum === null ? null : Number(rule.maximum),
  }));
  assert.deepEqual(await get('/payment-schemes'), { rules: shown });
  const rule = {
    ...{ payment_currency: 'EUR', bank_country: 'SEPA', maximum: 100_000, scheme: 'SEPA_INSTANT' },
    ...{ cutoff_time: '23:59', cutoff_timezone: 'Europe/Berlin', every_day: true },
  };
  const open = { payment_currency: 'USD', scheme: 'ACH' };
  const filled = {
    bank_country: null,
    maximum: null,
    cutoff_time: null,
    cutoff_timezone: 'Europe/London',
    every_day: false,
  };
  const set = { rules: [rule, { ...open, ...filled }] };
  assert.deepEqual(await put('/payment-schemes', { rules: [rule, open] }), set);
  assert.deepEqual(await get('/payment-schemes'), set);
  await refusals('/payment-schemes', [
    [{}, 'body.rules: is required'],
    [{ rules: [{ ...open, scheme: 'PIGEON' }] }, 'body.rules[0].scheme: must be one of SWIFT, SEPA'],
    [{ rules: [open, { ...open, bank_country: 'Germany' }] }, 'body.rules[1].bank_country'],
    [{ rules: [open, { ...open, bank_country: 'ZZ' }] }, 'body.rules[1].bank_country: must be SEPA, or a country'],
    [{ rules: [{ ...open, maximum: 0 }] }, 'body.rules[0].maximum'],
    [{ rules: [{ ...open, maximum: '10' }] }, 'body.rules[0].maximum: must be a number'],
    [{ rules: [{ ...open, cutoff_timezone: 'Nowhere' }] }, 'body.rules[0].cutoff_timezone'],
  ]);
  assert.deepEqual(await put('/payment-schemes', { rules: [] }), { rules: [] });
});

test('an order reads all of them at once', async () => {
  const { clientId } = await createWorld(service);
  await put('/currencies/NOK', { cutoff_time: '11:00' });
  await put('/payment-schemes', { rules: [{ payment_currency: 'NOK', maximum: 10.5, scheme: 'LOCAL' }] });
  const pool = await poolOfClient(service.service.context.pool, clientId);
  await service.operator('POST', '/currency-accounts', { client_id: clientId, currency: 'NOK' });
  const { body } = await service.operator('GET', `/currency-accounts?client_id=${clientId}`);
  const paid = { trade: undefined, quote: undefined, account: body[0].account_id };
  const unset = await readOrderSettings(pool, clientId, paid);
  assert.equal(unset.pricing.currencies, null);
  assert.equal(unset.currency('NOK').cutoff_time, '11:00');
  assert.deepEqual(unset.currency('DKK').weekend, [6, 7]);
  assert.deepEqual([unset.schemes[0]?.scheme, unset.schemes[0]?.maximum], ['LOCAL', '10.5']);
  await put(`/clients/${clientId}/pricing`, { currencies: [{ currency: 'NOK' }] });
  assert.equal((await readOrderSettings(pool, clientId, paid)).pricing.currencies?.[0]?.pay_allowed, true);
});

test('forward points of a pair are listed by days, each day once', async () => {
  const pair = { sell_currency: 'GBP', buy_currency: 'EUR' };
  const raw = JSON.stringify({ ...pair, points: [{ days: 90 }, { days: 30, points: -0.0012 }] });
  const exact = raw.replace('"days":90', '"days":90,"points":0.000000000010');
  const headers = { 'content-type': 'application/json' };
  const set = await service.operator('PUT', '/forward-points', undefined, { raw: exact, headers });
  assert.equal(set.status, 200, set.text);
  assert.match(set.text, /"points":\[\{"days":30,"points":-0\.0012\},\{"days":90,"points":0\.000000000010\}\]/);
  await put('/forward-points', { sell_currency: 'EUR', buy_currency: 'GBP', points: [{ days: 1, points: 1 }] });
  const listed = await get('/forward-points');
  assert.deepEqual(
    listed.map((each: { sell_currency: string }) => each.sell_currency),
    ['EUR', 'GBP'],
  );
  await put('/forward-points', { sell_currency: 'EUR', buy_currency: 'GBP', points: [] });
  assert.deepEqual(await get('/forward-points'), [set.body]);
  const bodies: [body: unknown, details: string][] = [
    [{ ...pair, points: [{ days: 1, points: '1' }] }, 'body.points[0].points: must be a number'],
    [
      {
        ...pair,
        points: [
          { days: 1, points: 1 },
          { days: 1, points: 2 },
        ],
      },
      'body.points[1].days: must not be given twice',
    ],
    [{ ...pair, points: [{ days: -1, points: 1 }] }, 'body.points[0].days'],
    [{ ...pair, points: [{ days: 1, points: 0.0000000000001 }] }, 'body.points[0].points'],
    [{ ...pair, points: [{ days: 1 }] }, 'body.points[0].points: is required'],
    [{ sell_currency: 'GBP', buy_currency: 'GBP', points: [] }, 'body.buy_currency: must differ'],
    [{ sell_currency: 'GBP', points: [] }, 'body.buy_currency: is required'],
  ];
  for (const [body, details] of bodies) {
    const refused = await service.operator('PUT', '/forward-points', body);
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_body'], refused.text);
    assert.ok(refused.body.details.startsWith(details), refused.body.details);
  }
});

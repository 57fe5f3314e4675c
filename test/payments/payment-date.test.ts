import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { closedBy, isPast, MAX_DAYS_AHEAD, nextBusinessDay } from '../../src/exchange/business-days.ts';
import { defaultSettings } from '../../src/exchange/currency.ts';
import { paymentDate } from '../../src/payments/payment-date.ts';
import { bankCountry, DEFAULT_RULES, OPEN_RULE, schemeRuleFor } from '../../src/payments/schemes.ts';
import { addDays, daysBetween, instantIn, isTimeZone, londonDay, offsetIn } from '../../src/values/calendar.ts';
import { Problem } from '../../src/values/errors.ts';

const seed = Number(process.env.SEED ?? 20_261_224);
const SEPA = new Set(['DE', 'FR', 'GB']);

describe('zones', () => {
  test('a time of a day is an instant in its zone, on days of a change too', () => {
    for (const [zone, day, time, instant] of [
      ['Europe/London', '2026-07-01', '15:30', '2026-07-01T14:30:00.000Z'],
      ['Europe/London', '2026-12-01', '15:30', '2026-12-01T15:30:00.000Z'],
      ['America/New_York', '2026-03-08', '17:00', '2026-03-08T21:00:00.000Z'],
      ['Asia/Kolkata', '2026-07-01', '10:00', '2026-07-01T04:30:00.000Z'],
      // It changes by half an hour, at half past the hour of UTC.
      ['Australia/Lord_Howe', '2026-04-05', '01:15', '2026-04-04T14:15:00.000Z'],
      ['Australia/Lord_Howe', '2026-04-05', '02:30', '2026-04-04T16:00:00.000Z'],
      // 02:30 does not exist there: half an hour after 02:00, as if nothing had changed.
      ['Europe/Berlin', '2026-03-29', '02:30', '2026-03-29T01:30:00.000Z'],
    ] as const)
      assert.equal(instantIn(zone, day, time).toISOString(), instant, `${zone} ${day} ${time}`);
  });

  test('an offset is written with its sign', () => {
    const july = new Date('2026-07-01T12:00:00Z');
    for (const [zone, offset] of [
      ['Europe/London', '+01:00'],
      ['America/St_Johns', '-02:30'],
      ['Asia/Kathmandu', '+05:45'],
      ['UTC', '+00:00'],
    ] as const)
      assert.equal(offsetIn(zone, july), offset);
  });

  test('only names of the IANA database are zones', () => {
    for (const zone of ['Europe/London', 'UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'EST5EDT'])
      assert.ok(isTimeZone(zone), zone);
    for (const zone of ['', 'London', '+01:00', 'Europe/Nowhere', ' UTC', '-01', '../UTC'])
      assert.ok(!isTimeZone(zone), zone);
  });
});

describe('business days', () => {
  const calendar = { weekend: [6, 7], holidays: [{ date: '2026-12-25' }, { date: '2026-12-26' }] };

  test('neither a weekend nor a holiday is one', () => {
    for (const [day, closed, next] of [
      ['2026-12-24', undefined, '2026-12-24'],
      ['2026-12-25', 'holiday', '2026-12-28'],
      // A Saturday too.
      ['2026-12-26', 'holiday', '2026-12-28'],
      ['2026-12-27', 'weekend', '2026-12-28'],
    ] as const) {
      assert.equal(closedBy(day, calendar), closed, day);
      assert.equal(nextBusinessDay(day, calendar), next, day);
    }
    const gulf = { weekend: [5, 6], holidays: [] };
    assert.equal(nextBusinessDay('2026-12-25', gulf), '2026-12-27');
    assert.equal(nextBusinessDay('2026-12-25', gulf, calendar), '2026-12-28');
  });

  test('a cut-off is past at its minute', () => {
    const cutoff = { time: '15:30', zone: 'Europe/London' };
    assert.equal(isPast(cutoff, new Date('2026-07-01T14:29:59.999Z')), false);
    assert.equal(isPast(cutoff, new Date('2026-07-01T14:30:00Z')), true);
    assert.equal(isPast({ ...cutoff, time: null }, new Date('2026-07-01T22:59:59Z')), false);
    // Of the London day, whatever the day is in the zone: 08:00 in Tokyo on 1 July is before London's 1 July begins to work.
    assert.equal(isPast({ time: '08:00', zone: 'Asia/Tokyo' }, new Date('2026-07-01T00:00:00Z')), true);
    assert.equal(isPast({ time: '17:00', zone: 'America/New_York' }, new Date('2026-07-01T20:59:59Z')), false);
  });
});

describe('the scheme of a payment', () => {
  test('the default table chooses it by currency, country and amount', () => {
    for (const [payment_currency, country, amount, scheme] of [
      ['EUR', 'DE', '5', 'SEPA'],
      ['EUR', 'US', '5', 'SWIFT'],
      ['EUR', undefined, '5', 'SWIFT'],
      ['GBP', 'GB', '1000000.00', 'FPS'],
      ['GBP', 'GB', '1000000.01', 'CHAPS'],
      ['GBP', 'DE', '1', 'SWIFT'],
      ['USD', 'US', '1000000', 'ACH'],
      ['USD', 'US', '1000000.01', 'FEDWIRE'],
      ['MXN', 'MX', '99999999', 'LOCAL'],
      ['JPY', 'JP', '1', 'SWIFT'],
    ] as const)
      assert.equal(
        schemeRuleFor(DEFAULT_RULES, { payment_currency, country, amount }, SEPA).scheme,
        scheme,
        `${payment_currency} ${country} ${amount}`,
      );
  });

  test('the first rule that fits decides; none is SWIFT', () => {
    const rule = { payment_currency: 'EUR', bank_country: null, maximum: null, ...OPEN_RULE };
    const rules = [
      { ...rule, bank_country: 'FR', maximum: '10', scheme: 'SEPA_INSTANT' as const },
      { ...rule, scheme: 'TARGET2' as const },
    ];
    const scheme = (country: string, amount: string) =>
      schemeRuleFor(rules, { payment_currency: 'EUR', country, amount }, SEPA).scheme;
    assert.deepEqual(
      [scheme('FR', '10'), scheme('FR', '10.01'), scheme('US', '1')],
      ['SEPA_INSTANT', 'TARGET2', 'TARGET2'],
    );
    assert.equal(schemeRuleFor([], { payment_currency: 'EUR', country: 'DE', amount: '1' }, SEPA).scheme, 'SWIFT');
  });

  test('the bank is where it says, else where the IBAN is, else the BIC', () => {
    const payee = { iban: 'DE89370400440532013000', swift_code: 'BNPAFRPPXXX' };
    assert.equal(bankCountry({ ...payee, bank_country_code: 'GB' }), 'GB');
    assert.equal(bankCountry(payee), 'DE');
    assert.equal(bankCountry({ ...payee, iban: null }), 'FR');
    assert.equal(bankCountry({ iban: null, swift_code: null }), undefined);
  });
});

describe('the date of a payment', () => {
  const holidays = [{ date: '2026-12-25', name: 'Christmas Day' }];
  const currency = { ...defaultSettings('EUR'), cutoff_time: '15:30', holidays };
  // A Tuesday.
  const now = new Date('2026-12-22T10:00:00Z');
  const late = new Date('2026-12-22T15:30:00Z');
  const dated = (asked: string, fields: Partial<Parameters<typeof paymentDate>[0]> = {}) =>
    paymentDate({ asked, currency, rule: OPEN_RULE, maturity: null, now, ...fields });

  test('a day that is possible stays, another moves on and says why', () => {
    const cases: [asked: string, date: string, reason: string | undefined, fields?: Parameters<typeof dated>[1]][] = [
      ['2026-12-22', '2026-12-22', undefined],
      ['2026-12-25', '2026-12-28', 'is a holiday of EUR'],
      ['2026-12-26', '2026-12-28', 'is a weekend day of EUR'],
      ['2026-12-01', '2026-12-22', 'is in the past'],
      ['2026-12-22', '2026-12-23', 'is past the cut-off, 15:30 Europe/London', { now: late }],
      ['2026-12-23', '2026-12-23', undefined, { now: late }],
      ['2026-12-22', '2026-12-22', undefined, { now: late, rule: { ...OPEN_RULE, cutoff_time: '16:00' } }],
      [
        '2026-12-22',
        '2026-12-23',
        'is past the cut-off, 10:00 Europe/London',
        { rule: { ...OPEN_RULE, cutoff_time: '10:00' } },
      ],
      ['2026-12-25', '2026-12-25', undefined, { rule: { ...OPEN_RULE, every_day: true } }],
      // The maturity is a London day: half past midnight there.
      [
        '2026-12-22',
        '2026-12-24',
        'is before the maturity of the trade, 2026-12-24',
        { maturity: new Date('2026-12-24T00:30:00Z') },
      ],
      [
        '2026-12-23',
        '2026-12-28',
        'is before the maturity of the trade, 2026-12-25',
        { maturity: new Date('2026-12-25Z') },
      ],
      ['2026-12-23', '2026-12-23', undefined, { maturity: new Date('2026-12-01Z') }],
    ];
    for (const [asked, date, reason, fields] of cases) {
      const warning = reason === undefined ? null : `payment_date: ${asked} ${reason}; ${date} is used`;
      assert.deepEqual(dated(asked, fields), { date, warning }, asked);
    }
  });

  test('a day more than 366 days away is refused, asked for or moved to', () => {
    const refusal = (error: unknown) =>
      error instanceof Problem && error.code === 'invalid_body' && error.fault?.field === 'payments[1].payment_date';
    const field = 'payments[1].payment_date';
    // 366 days later: 2027-12-23, a Thursday.
    assert.equal(dated('2027-12-23').date, '2027-12-23');
    assert.throws(() => dated('2027-12-24', { field }), refusal);
    const closed = { ...currency, holidays: [{ date: '2027-12-23', name: null }] };
    assert.throws(() => dated('2027-12-23', { currency: closed, field }), refusal);
    assert.throws(() => dated('2026-12-22', { maturity: new Date('2028-01-10Z'), field }), refusal);
  });

  test(`the day is the first one that nothing forbids (seed ${seed})`, () => {
    const day = fc.integer({ min: -30, max: 360 }).map((days) => addDays('2026-12-22', days));
    const calendar = fc.record({
      weekend: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { maxLength: 4 }),
      holidays: fc.array(
        day.map((date) => ({ date, name: null })),
        { maxLength: 6 },
      ),
    });
    const minute = fc.option(fc.constantFrom('00:00', '09:59', '10:00', '10:01', '23:59'), { nil: null });
    fc.assert(
      fc.property(
        day,
        day,
        calendar,
        minute,
        minute,
        fc.boolean(),
        (asked, ripe, { weekend, holidays }, ofRule, own, every) => {
          const today = londonDay(now);
          const maturity = new Date(`${ripe}T12:00:00Z`);
          const settings = { ...currency, weekend, holidays, cutoff_time: own };
          const rule = { ...OPEN_RULE, cutoff_time: ofRule, every_day: every };
          const cutoff = ofRule ?? own;
          const possible = (date: string) =>
            date >= asked &&
            date >= ripe &&
            (date > today || (date === today && (cutoff === null || cutoff > '10:00'))) &&
            (every || closedBy(date, { weekend, holidays }) === undefined);
          const first = Array.from({ length: 500 }, (_, days) => addDays(today, days)).find(possible) as string;
          const given = () => paymentDate({ asked, currency: settings, rule, maturity, now });
          if (daysBetween(today, first) > MAX_DAYS_AHEAD) return assert.throws(given, Problem);
          const { date, warning } = given();
          assert.equal(date, first);
          assert.equal(warning === null, date === asked);
        },
      ),
      { seed, numRuns: 1_000 },
    );
  });
});

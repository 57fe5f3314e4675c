import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { afterBusinessDays, closedBy, MAX_DAYS_AHEAD } from '../../src/exchange/business-days.ts';
import { defaultSettings } from '../../src/exchange/currency.ts';
import { type DatedExchange, maturityOf, type SettledCurrency, valueDate } from '../../src/exchange/value-date.ts';
import { addDays, daysBetween, londonDay } from '../../src/values/calendar.ts';
import { Problem } from '../../src/values/errors.ts';

/** On which day an exchange settles (instructions, 7). */
const seed = Number(process.env.SEED ?? 20_261_124);
const tooLate = (error: unknown) =>
  error instanceof Problem && error.code === 'invalid_body' && error.details.startsWith('body.value_date:');

function currency(code: string, fields: Partial<SettledCurrency> = {}): SettledCurrency {
  return { ...defaultSettings(code), ...fields };
}
const holidays = (...days: string[]) => days.map((date) => ({ date, name: null }));
const GBP = currency('GBP', { cutoff_time: '15:30', holidays: holidays('2026-12-25', '2026-12-28') });
const USD = currency('USD', {
  ...{ cutoff_time: '17:00', cutoff_timezone: 'America/New_York' },
  holidays: holidays('2026-11-26', '2026-12-25'),
});
const JPY = currency('JPY', {
  ...{ cutoff_time: '15:00', cutoff_timezone: 'Asia/Tokyo' },
  holidays: holidays('2026-11-23', '2026-12-31', '2027-01-01'),
});
const EUR = currency('EUR', { cutoff_days: 0 });

describe('the value date', () => {
  test('of a spot is some business days of both currencies away', () => {
    for (const [now, sold, bought, date] of [
      // A Tuesday: Wednesday, and then Thanksgiving is passed over.
      ['2026-11-24T10:00:00Z', GBP, USD, '2026-11-27'],
      ['2026-11-24T10:00:00Z', GBP, EUR, '2026-11-26'],
      // 15:30 in London is past.
      ['2026-11-24T15:30:00Z', GBP, EUR, '2026-11-27'],
      ['2026-11-24T15:29:59Z', GBP, EUR, '2026-11-26'],
      // 15:00 in Tokyo is 06:00 in London.
      ['2026-11-24T05:59:59Z', GBP, JPY, '2026-11-26'],
      ['2026-11-24T06:00:00Z', GBP, JPY, '2026-11-27'],
      // A Friday after New York's cut-off: Monday is a holiday in Tokyo, so that Tuesday is the start.
      ['2026-11-20T22:00:00Z', JPY, USD, '2026-11-27'],
      // London's and New York's Christmas, London's Monday, Tokyo's New Year.
      ['2026-12-23T10:00:00Z', GBP, USD, '2026-12-29'],
      ['2026-12-23T05:00:00Z', GBP, JPY, '2026-12-29'],
      ['2026-12-29T05:00:00Z', JPY, USD, '2027-01-04'],
      // In summer 23:30 UTC is the next London day already.
      ['2026-07-01T23:30:00Z', EUR, EUR, '2026-07-02'],
      // A start on a weekend moves on.
      ['2026-11-21T10:00:00Z', EUR, EUR, '2026-11-23'],
    ] as const)
      assert.deepEqual(
        valueDate({ kind: 'spot', asked: undefined, currencies: [sold, bought], now: new Date(now) }),
        { date, warning: null },
        `${now} ${sold.currency}${bought.currency}`,
      );
  });

  test('that was asked for stays, moves on, or is too late', () => {
    const now = new Date('2026-12-21T10:00:00Z');
    const ask = (kind: DatedExchange, asked: string, currencies = [GBP, USD] as const, maturity?: string) =>
      valueDate({ kind, asked, currencies, now, maturity });
    for (const [kind, asked, date, why] of [
      ['spot', '2026-12-23', '2026-12-23', null],
      ['spot', '2026-12-21', '2026-12-23', 'is before the first possible day of a spot'],
      ['spot', '2026-12-18', '2026-12-23', 'is in the past'],
      ['forward', '2026-12-24', '2026-12-24', null],
      ['forward', '2026-12-22', '2026-12-24', 'is before the first possible day of a forward'],
      ['forward', '2026-12-25', '2026-12-29', 'is a holiday of GBP'],
      ['forward', '2026-12-26', '2026-12-29', 'is a weekend day of GBP'],
      ['forward', '2027-12-22', '2027-12-22', null],
    ] as const)
      assert.deepEqual(ask(kind, asked), {
        date,
        warning: why && `value_date: ${asked} ${why}; ${date} is used`,
      });
    assert.throws(() => ask('spot', '2026-12-24'), tooLate);
    assert.throws(() => ask('forward', '2027-12-23'), tooLate);
    // It moves beyond the last day.
    assert.throws(
      () => ask('forward', '2027-12-22', [currency('GBP', { holidays: holidays('2027-12-22') }), USD]),
      tooLate,
    );
    // A currency that settles at once: until two business days later it is a spot.
    assert.equal(ask('spot', '2026-12-21', [EUR, EUR]).date, '2026-12-21');
    assert.equal(ask('spot', '2026-12-23', [EUR, EUR]).date, '2026-12-23');
    assert.throws(() => ask('spot', '2026-12-24', [EUR, EUR]), tooLate);
    // A drawdown may be later than a spot, but not after its trade matures.
    assert.equal(ask('drawdown', '2027-01-20', [GBP, USD], '2027-01-20').date, '2027-01-20');
    assert.equal(ask('drawdown', '2028-05-03', [GBP, USD], '2028-05-03').date, '2028-05-03');
    assert.throws(() => ask('drawdown', '2027-01-21', [GBP, USD], '2027-01-20'), tooLate);
    assert.throws(() => ask('drawdown', '9999-12-31', [GBP, USD], '2027-01-20'), tooLate);
    assert.throws(() => ask('drawdown', '2026-12-25', [GBP, USD], '2026-12-28'), tooLate);
    assert.throws(
      () => valueDate({ kind: 'drawdown', asked: undefined, currencies: [GBP, USD], now, maturity: '2026-12-22' }),
      tooLate,
    );
  });

  test('of currencies that never settle together does not exist', () => {
    const west = currency('USD', { weekend: [1, 2, 3] });
    const east = currency('JPY', { weekend: [4, 5, 6, 7] });
    for (const kind of ['spot', 'forward'] as const)
      assert.throws(
        () => valueDate({ kind, asked: undefined, currencies: [west, east], now: new Date('2026-12-21T10:00:00Z') }),
        tooLate,
      );
  });

  test(`is open in both currencies and the first such day (seed ${seed})`, () => {
    const day = fc.integer({ min: 0, max: 60 }).map((days) => addDays('2026-11-01', days));
    const settled = fc
      .record({
        weekend: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { maxLength: 3 }),
        holidays: fc.array(day, { maxLength: 12 }).map((days) => holidays(...days)),
        cutoff_days: fc.integer({ min: 0, max: 4 }),
        cutoff_time: fc.option(fc.constantFrom('00:00', '08:59', '15:30', '23:59'), { nil: null }),
        cutoff_timezone: fc.constantFrom('Europe/London', 'America/New_York', 'Asia/Tokyo'),
      })
      .map((fields) => currency('EUR', fields));
    const minute = fc.integer({ min: 0, max: 80_000 }).map((minutes) => new Date(Date.UTC(2026, 10, 1, 0, minutes)));
    fc.assert(
      fc.property(settled, settled, minute, fc.option(day, { nil: undefined }), (sold, bought, now, asked) => {
        const currencies = [sold, bought] as const;
        const open = (date: string) => currencies.every((each) => closedBy(date, each) === undefined);
        const first = valueDate({ kind: 'spot', asked: undefined, currencies, now });
        assert.ok(open(first.date) && first.warning === null);
        const later = valueDate({ kind: 'forward', asked: undefined, currencies, now });
        assert.ok(open(later.date) && later.date > first.date);
        const n = Math.max(sold.cutoff_days, bought.cutoff_days);
        const passed = Array.from({ length: daysBetween(londonDay(now), first.date) + 1 }, (_, days) =>
          addDays(londonDay(now), days),
        ).filter(open).length;
        // The day itself, the days before it, and today where it is past.
        assert.ok(passed === n + 1 || passed === n + 2, `${passed} of ${n}`);
        const forward = valueDate({ kind: 'forward', asked, currencies, now });
        assert.ok(open(forward.date) && forward.date >= later.date && forward.date >= (asked ?? ''));
        assert.equal(forward.warning === null, asked === undefined || forward.date === asked);
        assert.ok(daysBetween(londonDay(now), forward.date) <= MAX_DAYS_AHEAD);
        assert.equal(afterBusinessDays(first.date, 0, ...currencies), first.date);
      }),
      { seed, numRuns: 1_000 },
    );
  });
});

test('an exchange matures at the cut-off of the sold currency, else when the London day ends', () => {
  assert.equal(maturityOf('2026-07-01', GBP).toISOString(), '2026-07-01T14:30:00.000Z');
  assert.equal(maturityOf('2026-07-01', USD).toISOString(), '2026-07-01T21:00:00.000Z');
  assert.equal(maturityOf('2026-07-01', JPY).toISOString(), '2026-07-01T06:00:00.000Z');
  assert.equal(maturityOf('2026-07-01', currency('EUR')).toISOString(), '2026-07-01T22:59:59.000Z');
  assert.equal(maturityOf('2026-12-01', currency('EUR')).toISOString(), '2026-12-01T23:59:59.000Z');
});

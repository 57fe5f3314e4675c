import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FixedSide, pointsAt, priceOf } from '../../src/exchange/price.ts';
import { Problem } from '../../src/values/errors.ts';
import { inverted, plus, type Ratio, ratioOf, rounded, significant, times } from '../../src/values/ratio.ts';

/** Prices of exchanges (instructions, 7 and 13.3). */
const price = (operation: FixedSide, amount: string, mid: Ratio, spreadBps: number, buy = 2, sell = 2) =>
  priceOf({ operation, amount, mid, spreadBps, decimals: { buy, sell } });
const outOfRange = (error: unknown) => error instanceof Problem && error.code === 'amount_out_of_range';

test('the vectors of the contract', () => {
  assert.deepEqual(price('sell', '10000', ratioOf('1.185'), 50), {
    ...{ rate: '1.179075', inverseRate: '0.84812247', buyAmount: '11790.75', sellAmount: '10000' },
  });
  assert.equal(price('buy', '12500.00', ratioOf('1.185'), 50).sellAmount, '10601.53');
  const yen = price('sell', '1000.55', ratioOf('191.37'), 50, 0);
  assert.deepEqual([yen.rate, yen.buyAmount], ['190.41315', '190518']);
  const pounds = price('sell', '1000000', inverted(ratioOf('191.37')), 50, 2, 0);
  assert.deepEqual([pounds.rate, pounds.buyAmount], ['0.005199352', '5199.35']);
  assert.equal(price('sell', '100', { numerator: 1n, denominator: 3n }, 1_000).rate, '0.3');
});

test('a rate has at most 8 significant digits and 12 decimals, and ends in no zero', () => {
  const down = (value: string) => significant(ratioOf(value), { digits: 8, decimals: 12, rounding: 'down' });
  const near = (value: string) => significant(ratioOf(value), { digits: 8, decimals: 12, rounding: 'half-even' });
  for (const [value, expected] of [
    ['1.179075', '1.179075'],
    ['123456789.5', '123456780'],
    ['12345678.9', '12345678'],
    ['0.000012345678999', '0.000012345678'],
    ['0.0000000000019', '0.000000000001'],
    ['0.0000000000009', '0'],
    ['100', '100'],
    ['0.99999999999', '0.99999999'],
    ['10.00000009', '10'],
  ] as const)
    assert.equal(down(value), expected, value);
  for (const [value, expected] of [
    ['0.123456785', '0.12345678'],
    ['0.123456795', '0.1234568'],
    ['9.99999996', '10'],
    ['123456785', '123456780'],
    ['123456795', '123456800'],
  ] as const)
    assert.equal(near(value), expected, value);
});

test('what is zero or too long is refused', () => {
  assert.throws(() => price('sell', '0.01', ratioOf('0.1'), 0), outOfRange);
  assert.throws(() => price('sell', '1', ratioOf('0.0000000000009'), 0), outOfRange);
  assert.throws(() => price('sell', '999999999999999', ratioOf('1.5'), 0), outOfRange);
  assert.throws(() => price('sell', '1', ratioOf('-1'), 0), outOfRange);
  assert.throws(() => price('buy', '1000000000000', ratioOf('99999999999999'), 0), outOfRange);
  assert.throws(() => price('sell', '100000000000000', ratioOf('10'), 0), outOfRange);
  assert.equal(price('sell', '99999999999999.99', ratioOf('10'), 0).buyAmount, '999999999999999.90');
  assert.equal(price('sell', '1', ratioOf('0.01'), 0).buyAmount, '0.01');
});

test('forward points lie on the line between their tenors', () => {
  const points = [
    { days: 10, points: '0.01' },
    { days: 40, points: '-0.02' },
  ];
  const at = (days: number) => {
    const found = pointsAt(points, days);
    return found && rounded(found, 6, 'half-even');
  };
  assert.deepEqual([0, 5, 10, 20, 25, 40, 41].map(at), [
    '0.000000',
    '0.005000',
    '0.010000',
    '0.000000',
    '-0.005000',
    '-0.020000',
    undefined,
  ]);
  assert.equal(pointsAt([], 0) && rounded(pointsAt([], 0) as Ratio, 1, 'down'), '0.0');
  assert.equal(pointsAt([], 1), undefined);
});

test('the fixed side is as it was asked for, the other one is off by half a unit at most, and the rate is not above mid', () => {
  const decimals = fc.constantFrom(0, 2, 3);
  const asked = fc.record({
    operation: fc.constantFrom<FixedSide>('buy', 'sell'),
    units: fc.bigInt({ min: 1n, max: 10n ** 13n }),
    mid: fc.record({
      numerator: fc.bigInt({ min: 1n, max: 10n ** 12n }),
      denominator: fc.bigInt({ min: 1n, max: 10n ** 9n }),
    }),
    spreadBps: fc.integer({ min: 0, max: 5_000 }),
    decimals: fc.record({ buy: decimals, sell: decimals }),
  });
  let priced = 0;
  fc.assert(
    fc.property(asked, ({ operation, units, ...rest }) => {
      const scale = rest.decimals[operation];
      const amount = rounded({ numerator: units, denominator: 10n ** BigInt(scale) }, scale, 'down');
      let found: ReturnType<typeof priceOf>;
      try {
        found = priceOf({ operation, amount, ...rest });
      } catch (error) {
        assert.ok(outOfRange(error), String(error));
        return;
      }
      priced += 1;
      const { buyAmount, sellAmount } = found;
      const rate = ratioOf(found.rate);
      assert.equal(operation === 'buy' ? buyAmount : sellAmount, amount);
      const exact = operation === 'sell' ? times(ratioOf(sellAmount), rate) : times(ratioOf(buyAmount), inverted(rate));
      const other = operation === 'sell' ? 'buy' : 'sell';
      const text = other === 'buy' ? buyAmount : sellAmount;
      const { numerator, denominator } = plus(exact, { ...ratioOf(text), numerator: -ratioOf(text).numerator });
      const size = numerator < 0n ? -numerator : numerator;
      assert.ok(2n * size * 10n ** BigInt(rest.decimals[other]) <= denominator, 'at most half a unit');
      assert.ok(rate.numerator * rest.mid.denominator <= rest.mid.numerator * rate.denominator, 'rate <= mid');
      assert.match(found.rate, /^(?:0|[1-9]\d*)(?:\.\d{0,11}[1-9])?$/);
      assert.match(found.inverseRate, /^(?:0|[1-9]\d*)(?:\.\d{0,11}[1-9])?$/);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(priced > 1_000, `${priced} were priced`);
});

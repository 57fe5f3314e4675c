import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decimal, parse, stringify } from '../../sdk/src/decimal.ts';

interface Amounts {
  amount: number;
  fee: number | null;
}
const read = (text: string) => parse(text) as Amounts;

describe('amounts', () => {
  test('texts stay texts, whatever they look like', () => {
    const value = { a: '\u00001', b: 'x"\u00002"', '\u00003': ['\u0000', '\u0000\u00004', '"\u00005":'] };
    assert.equal(stringify(value), JSON.stringify(value));
    assert.equal(stringify(value, 2), JSON.stringify(value, null, 2));
  });

  test('the digits that were sent, in plain notation; a copy keeps them where a double does not', () => {
    for (const [wire, expected, ofCopy = expected] of [
      ['1250.5', '1250.5'],
      ['1250.50', '1250.50', '1250.5'],
      ['726.20', '726.20', '726.2'],
      ['100.00', '100.00', '100'],
      ['0.0', '0.0', '0'],
      ['100', '100'],
      ['1.50e1', '15.0', '15'],
      ['0', '0'],
      ['-0.00000001', '-0.00000001'],
      ['0.00000001', '0.00000001'],
      ['999999999999999999.99999999', '999999999999999999.99999999'],
      ['-123456789012345678.10', '-123456789012345678.10'],
      ['9007199254740993', '9007199254740993'],
      ['1234567890.123456', '1234567890.123456'],
      ['0.1000000000000000055', '0.1000000000000000055'],
      ['1e21', '1000000000000000000000'],
      ['1.5E-3', '0.0015'],
      ['1e400', `1${'0'.repeat(400)}`],
    ] as const) {
      for (const space of ['', ' ', '\n\t']) {
        const payment = read(`{"amount":${space}${wire}${space},"fee":null}`);
        assert.equal(decimal(payment, 'amount'), expected, wire);
        assert.equal(payment.amount, Number(wire));
      }
      assert.equal(decimal({ ...read(`{"x":[1,{}],"amount":${wire}}`) }, 'amount'), ofCopy, 'a copy');
    }
    assert.equal(decimal(read('{"amount":1,"fee":null}'), 'fee'), null);
  });

  test('an answer whose numbers are short is equal to what JSON.parse makes', () => {
    const text = '{"amount":726.20,"fee":10.00,"list":[1.0,{"a":-0.50}]}';
    assert.deepEqual(parse(text), JSON.parse(text));
    assert.equal(stringify(parse(text)), text);
    assert.equal(stringify(parse('{"a":[1.50]}'), 2), '{\n  "a": [\n    1.50\n  ]\n}');
    const small = '[0.00000001,-0.0000005,0.000001]';
    assert.equal(stringify(parse(small)), small, 'a number that JavaScript writes with an exponent');
  });

  test('a value that was changed is no longer what came', () => {
    const payment = read('{"amount":12345678901234567.89,"fee":null}');
    assert.equal(decimal({ ...payment, amount: 5 }, 'amount'), '5');
  });

  test('where digits may have been lost it says so instead of guessing', () => {
    const payment = read('{"amount":12345678901234567.89,"fee":null}');
    const cloned = structuredClone(payment);
    assert.throws(() => decimal(cloned, 'amount'), { name: 'RangeError', message: /^amount: / });
    assert.throws(() => decimal({ amount: '5' } as unknown as Amounts, 'amount'), { name: 'TypeError' });
  });

  test('a configuration that is read, changed and written keeps the digits of what was not changed', () => {
    const text =
      '{"rules":[{"minimum_threshold":12345678901234567.89},{"minimum_threshold":50.25}],"list":[0.1234567890123456789]}';
    assert.equal(stringify(parse(text)), text);
    const config = parse(text) as { rules: { minimum_threshold: number }[] };
    const [first] = config.rules;
    if (first) first.minimum_threshold = 7;
    assert.match(stringify(config), /"minimum_threshold":7\}/);
  });

  test('any JSON is read as JSON.parse reads it, and every decimal keeps its digits', () => {
    const seed = Date.now();
    const digits = fc
      .tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.nat(99_999_999))
      .map(([a, b]) => `${a}.${String(b).padStart(8, '0')}`.replace(/^-0\./, '0.'));
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.string(), digits, (json, key, amount) => {
        const name = `${key}!`;
        const text = `{"json": ${json}, ${JSON.stringify(name)}: ${amount}, "1": "x", "${'9'.repeat(20)}": 1}`;
        const parsed = parse(text) as Record<string, number>;
        assert.equal(JSON.stringify(parsed), JSON.stringify(JSON.parse(text)));
        assert.equal(decimal(parsed, name), amount);
        assert.ok(stringify(parsed).includes(`:${amount}`), amount);
      }),
      { seed, numRuns: 500 },
    );
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { HEIGHT, scaleOf } from '../../pages/design/scale.ts';

/** The y axis of the charts. */

describe('the axis of a chart', () => {
  for (const [values, isWhole, ticks] of [
    [[], true, [0, 1]],
    [[0], false, [0, 0.5]],
    [[1], true, [0, 1]],
    [[4, 2], true, [0, 2, 4]],
    [[590], true, [0, 200, 400, 600]],
    [[2400, -150.25], false, [-1000, 0, 1000, 2000, 3000]],
    [[-5], true, [-6, -4, -2, 0]],
  ] as const)
    test(`${values.join(', ') || 'nothing'}: ${ticks.join(', ')}`, () =>
      assert.deepEqual(
        scaleOf(values, isWhole).ticks.map((tick) => Number(tick.toPrecision(12))),
        ticks,
      ));

  test('it holds every value and zero, and has few lines', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.double({ min: -1e15, max: 1e15, noNaN: true }).filter((value) => value === 0 || Math.abs(value) > 1e-6),
        ),
        fc.boolean(),
        (values, isWhole) => {
          const { ticks, y } = scaleOf(values, isWhole);
          assert.ok(ticks.includes(0) && ticks.length >= 2 && ticks.length <= 6, ticks.join(', '));
          for (const value of values) assert.ok(y(value) >= -1e-6 && y(value) <= HEIGHT + 1e-6, String(value));
        },
      ),
    );
  });
});

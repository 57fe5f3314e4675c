/** The height of every drawing, in its own unit. */
export const HEIGHT = 100;
/** The approximate number of horizontal lines. */
const TICKS = 3;
/** The leading digits of a step between two lines. */
const ROUND = [1, 2, 5, 10];

/** A y axis with round values. */
export interface Scale {
  ticks: number[];
  /** The vertical position of a value, from the top. */
  y: (value: number) => number;
}

/**
 * An axis that includes zero and all values.
 * @param isWhole the values are counts, so that lines fall on whole numbers only
 */
export function scaleOf(values: readonly number[], isWhole: boolean): Scale {
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const rough = (most - least || 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = (ROUND.find((each) => each * power >= rough) ?? 10) * power;
  const step = isWhole ? Math.max(1, round) : round;
  const [from, to] = [Math.floor(least / step), Math.max(Math.ceil(most / step), Math.floor(least / step) + 1)];
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => (from + index) * step);
  return { ticks, y: (value) => HEIGHT - ((value / step - from) / (to - from)) * HEIGHT };
}

/** Height of every drawing, in its own unit. */
export const HEIGHT = 100;
/** Lines across a drawing, about. */
const TICKS = 3;
/** What a step between two round values may begin with. */
const ROUND = [1, 2, 5, 10];

/** A y axis of round values. */
export interface Scale {
  ticks: number[];
  /** Where a value is drawn, from the top. */
  y: (value: number) => number;
}

/**
 * An axis that holds all values, and zero.
 * @param isWhole the values are counts: there is nothing between two of them
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

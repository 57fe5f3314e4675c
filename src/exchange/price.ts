import { Problem } from '../values/errors.ts';
import { MAX_RATE_DECIMALS } from '../values/money.ts';
import { inverted, isPositive, plus, type Ratio, ratioOf, rounded, significant, times } from '../values/ratio.ts';

/**
 * Prices of exchanges (instructions, 7). The mid rate is exact. The institution's spread is applied to it, and the result is rounded once,
 * in the institution's favour. Amounts are rounded half even to the decimals of their currency.
 */

/** The most significant digits of a rate. */
const RATE_DIGITS = 8;
/** One whole in basis points. */
const WHOLE_BPS = 10_000;
/** The most digits before the point on either side of an exchange. */
const MAX_SIDE_DIGITS = 15;

/** Which side of an exchange is fixed. */
export type FixedSide = 'buy' | 'sell';

/** What is asked for: an amount of one side, and what determines its price. */
export interface PriceRequest {
  operation: FixedSide;
  /** Decimal in plain notation, above zero, with at most the decimals of its currency. */
  amount: string;
  /** Bought units for one sold unit, before the spread. */
  mid: Ratio;
  /** Basis points, 0 to 5,000. */
  spreadBps: number;
  /** Decimals of the two currencies. */
  decimals: Record<FixedSide, number>;
}

/** The price of an exchange: decimals in plain notation. */
export interface Price {
  /** Bought units for one sold unit. */
  rate: string;
  /** Sold units for one bought unit. */
  inverseRate: string;
  buyAmount: string;
  sellAmount: string;
}

/** What an exchange costs. @throws Problem amount_out_of_range if a side or a rate is zero or too long */
export function priceOf({ operation, amount, mid, spreadBps, decimals }: PriceRequest): Price {
  const spread: Ratio = { numerator: BigInt(WHOLE_BPS - spreadBps), denominator: BigInt(WHOLE_BPS) };
  const offered = times(mid, spread);
  const bounds = { digits: RATE_DIGITS, decimals: MAX_RATE_DECIMALS };
  const rate = isPositive(offered) ? significant(offered, { ...bounds, rounding: 'down' }) : '0';
  if (isZero(rate)) throw outOfRange('the rate of this pair is zero');
  const inverseRate = significant(inverted(ratioOf(rate)), { ...bounds, rounding: 'half-even' });
  if (isZero(inverseRate)) throw outOfRange('the inverse rate of this pair is zero');
  const factor = operation === 'sell' ? ratioOf(rate) : inverted(ratioOf(rate));
  const other: FixedSide = operation === 'sell' ? 'buy' : 'sell';
  const computed = rounded(times(ratioOf(amount), factor), decimals[other], 'half-even');
  if (isZero(computed)) throw outOfRange(`the ${other} amount would be zero`);
  if (wholeDigits(computed) > MAX_SIDE_DIGITS)
    throw outOfRange(`the ${other} amount would have more than ${MAX_SIDE_DIGITS} digits before the point`);
  const sides = { [operation]: amount, [other]: computed } as Record<FixedSide, string>;
  return { rate, inverseRate, buyAmount: sides.buy, sellAmount: sides.sell };
}

/** The number of digits before the point. */
function wholeDigits(decimal: string): number {
  return decimal.split('.', 1)[0]?.length ?? 0;
}

function isZero(decimal: string): boolean {
  return !/[1-9]/.test(decimal);
}

function outOfRange(message: string): Problem {
  return new Problem('amount_out_of_range', { field: 'amount', message });
}

/** Forward points of a pair for a number of calendar days from today. */
export interface ForwardPoint {
  days: number;
  /** Decimal in plain notation; it may be negative. */
  points: string;
}

/**
 * The points that a day adds to a mid rate, interpolated linearly between the neighbouring points. The line begins with 0 at day 0.
 * @param points by days, each day once
 * @returns undefined after the last point
 */
export function pointsAt(points: readonly ForwardPoint[], days: number): Ratio | undefined {
  let former: ForwardPoint = { days: 0, points: '0' };
  for (const point of points) {
    if (point.days === days) return ratioOf(point.points);
    if (point.days > days) {
      const start = ratioOf(former.points);
      const rise = plus(ratioOf(point.points), { ...start, numerator: -start.numerator });
      const part: Ratio = { numerator: BigInt(days - former.days), denominator: BigInt(point.days - former.days) };
      return plus(start, times(rise, part));
    }
    former = point;
  }
  return days === 0 ? ratioOf('0') : undefined;
}

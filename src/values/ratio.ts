/** Exact fractions for rates. The inverse of a rate may be 1/3, which no decimal text can express. */

/** A fraction. Its denominator is above zero. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** How to round: towards zero, or to the nearest, with ties going to the even digit. */
export type Rounding = 'down' | 'half-even';

/** The fraction of a decimal in plain notation, such as 1.185 or -0.002. */
export function ratioOf(decimal: string): Ratio {
  const [whole = '', fraction = ''] = decimal.split('.');
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) };
}

export function times(one: Ratio, other: Ratio): Ratio {
  return ratio(one.numerator * other.numerator, one.denominator * other.denominator);
}

export function plus(one: Ratio, other: Ratio): Ratio {
  const numerator = one.numerator * other.denominator + other.numerator * one.denominator;
  return ratio(numerator, one.denominator * other.denominator);
}

/** One divided by a fraction. @throws RangeError if the fraction is zero */
export function inverted({ numerator, denominator }: Ratio): Ratio {
  if (numerator === 0n) throw new RangeError('zero has no inverse');
  return numerator < 0n ? ratio(-denominator, -numerator) : ratio(denominator, numerator);
}

/** Whether a fraction is above zero. */
export function isPositive({ numerator }: Ratio): boolean {
  return numerator > 0n;
}

function ratio(numerator: bigint, denominator: bigint): Ratio {
  return { numerator, denominator };
}

/** A fraction as a decimal with exactly `decimals` digits after the point. */
export function rounded(value: Ratio, decimals: number, rounding: Rounding): string {
  const negative = value.numerator < 0n;
  const size = negative ? -value.numerator : value.numerator;
  const units = divided(size * 10n ** BigInt(decimals), value.denominator, rounding);
  const digits = String(units).padStart(decimals + 1, '0');
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return negative && units > 0n ? `-${text}` : text;
}

/**
 * A positive fraction as a decimal, rounded once and without trailing zeros. It has at most the given number of significant digits and of
 * digits after the point.
 */
export function significant(
  value: Ratio,
  { digits, decimals, rounding }: { digits: number; decimals: number; rounding: Rounding },
): string {
  const { numerator, denominator } = value;
  // The place of the number's first digit: 0 for units, -3 for thousandths.
  let magnitude = String(numerator).length - String(denominator).length;
  const [above, below] =
    magnitude < 0
      ? [numerator * 10n ** BigInt(-magnitude), denominator]
      : [numerator, denominator * 10n ** BigInt(magnitude)];
  if (above < below) magnitude -= 1;
  const after = Math.min(decimals, digits - 1 - magnitude);
  if (after >= 0) return withoutZeros(rounded(value, after, rounding));
  const unit = 10n ** BigInt(-after);
  return String(divided(numerator, denominator * unit, rounding) * unit);
}

/** A decimal without trailing zeros: 0.8500 becomes 0.85. */
export function withoutZeros(decimal: string): string {
  if (!decimal.includes('.')) return decimal;
  let end = decimal.length;
  while (decimal[end - 1] === '0') end -= 1;
  return decimal.slice(0, decimal[end - 1] === '.' ? end - 1 : end);
}

function divided(numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  const whole = numerator / denominator;
  if (rounding === 'down') return whole;
  const twice = 2n * (numerator % denominator);
  return twice > denominator || (twice === denominator && whole % 2n === 1n) ? whole + 1n : whole;
}

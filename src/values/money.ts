import Big from 'big.js';
import { Problem } from './errors.ts';

/**
 * Amounts are decimal strings in the program and `numeric` in the database, never floats (docs/decisions.md, 1). A JSON number in a request
 * is read from its source text, so that no digit is lost (json.ts).
 */

/** Digits before the decimal point that an amount or a rate may have. */
export const MAX_INTEGER_DIGITS = 18;
/** Digits after the decimal point of an amount. The currencies in use have at most 4 (ISO 4217). */
export const MAX_AMOUNT_DECIMALS = 8;
/** Digits after the decimal point of a rate. */
export const MAX_RATE_DECIMALS = 12;

/** An amount above zero in the usual spelling, which is already plain notation. */
const USUAL = /^[1-9]\d{0,17}(?:\.\d{1,8})?$/;
const DECIMAL = /^-?\d+(\.\d+)?([eE][+-]?\d{1,2})?$/;

/**
 * Reads a decimal from a request.
 * @param value a JSON number or a decimal string, in any notation that JSON allows
 * @param field the path of the field, for the message
 * @param options `positive`: must be above zero; `signed`: may be negative; `decimals`: the most digits after the point
 * @returns the same number in plain notation; trailing zeros stay
 * @throws Problem invalid_body
 */
export function decimal(
  value: unknown,
  field: string,
  options: {
    positive?: boolean;
    decimals?: number;
    signed?: boolean;
  } = {},
): string {
  const refuse = (must: string) => new Problem('invalid_body', { field, message: must });
  const text = typeof value === 'number' ? String(value) : value;
  const decimals = options.decimals ?? MAX_AMOUNT_DECIMALS;
  if (typeof text === 'string' && decimals >= MAX_AMOUNT_DECIMALS && USUAL.test(text)) return text;
  if (typeof text !== 'string' || !DECIMAL.test(text)) throw refuse('must be a decimal number');
  const plain = /[eE]/.test(text) ? new Big(text).toFixed() : text;
  const [integer = '', fraction = ''] = plain.replace('-', '').split('.');
  if (integer.replace(/^0+/, '').length > MAX_INTEGER_DIGITS || fraction.length > decimals) {
    throw refuse(`must have at most ${MAX_INTEGER_DIGITS} digits before and ${decimals} after the point`);
  }
  const sign = new Big(plain).cmp(0);
  if (options.positive && sign <= 0) throw refuse('must be greater than 0');
  if (!options.signed && sign < 0) throw refuse('must not be negative');
  // Zero has no sign, as in the database.
  return (sign === 0 ? plain.replace('-', '') : plain).replace(/^(-?)0+(?=\d)/, '$1');
}

/** Types a decimal string for Intl, which then formats every digit. A number would be a float. @throws RangeError if it is not a decimal */
export function numeral(amount: string): Intl.StringNumericLiteral {
  if (!isNumeral(amount)) throw new RangeError('an amount must be a decimal number');
  return amount;
}

function isNumeral(amount: string): amount is Intl.StringNumericLiteral {
  return DECIMAL.test(amount);
}

/** Digits after the point of a decimal string. */
export function decimalsOf(amount: string): number {
  const point = amount.indexOf('.');
  return point < 0 ? 0 : amount.length - point - 1;
}

/** The sum of two decimal strings in plain notation. It has as many decimals as the longer one, as in PostgreSQL's `numeric`. */
export function sum(a: string, b: string): string {
  const decimals = Math.max(decimalsOf(a), decimalsOf(b));
  // Adds whole numbers of the smallest unit. An import adds each of its amounts, and Big takes ten times as long.
  const units = unitsOf(a, decimals) + unitsOf(b, decimals);
  if (decimals === 0) return String(units);
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** A decimal string as a whole number of units, without its point. @param decimals at least as many as it has */
function unitsOf(amount: string, decimals: number): bigint {
  return BigInt(amount.replace('.', '') + '0'.repeat(decimals - decimalsOf(amount)));
}

/** A decimal in a canonical form: equal decimals give equal texts. 1.170 becomes 1.17. */
export function plain(value: string | number): string {
  return new Big(value).toFixed();
}

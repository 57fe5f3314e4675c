import { parse } from '../../sdk/src/decimal.ts';

/** Digits, with a decimal point. */
const PLAIN = /^\d+(?:\.\d+)?$/;
/** Blanks and apostrophes between digits, as locales have them. */
const BLANKS = /[\s'\u2019]/g;

/**
 * An amount as a person of a locale writes it, in plain notation: `1,234.50`, or `1.234,50` in German, are `1234.50`. A point is the decimal
 * point wherever it does not stand before three digits.
 * @returns undefined where it is no amount
 */
export function readAmount(text: string, locale: string): string | undefined {
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  const isComma = parts.some(({ type, value }) => type === 'decimal' && value === ',');
  const bare = text.replace(BLANKS, '');
  const pointed = isComma ? withPoint(bare) : withoutGroups(bare, ',');
  return pointed !== undefined && PLAIN.test(pointed) ? pointed.replace(/^0+(?=\d)/, '') : undefined;
}

/** Of a locale whose decimal sign is the comma. */
function withPoint(text: string): string | undefined {
  const grouped = withoutGroups(text.split(',')[0] ?? '', '.');
  const fraction = text.split(',').slice(1);
  if (fraction.length === 0) return grouped ?? text;
  return fraction.length === 1 && grouped !== undefined ? `${grouped}.${fraction[0]}` : undefined;
}

/** The digits without the signs between their groups; undefined where one does not stand before three digits. */
function withoutGroups(text: string, sign: string): string | undefined {
  const [head = '', ...groups] = text.split(sign);
  const last = groups.at(-1)?.split('.')[0];
  const whole = groups.slice(0, -1).every((group) => group.length === 3) && (last?.length ?? 3) === 3;
  return whole && (groups.length === 0 || head.length <= 3) ? head + groups.join('') : undefined;
}

/** A field of a body that has an amount as a number with its digits. @param amount plain notation */
export function amountField<Name extends string>(name: Name, amount: string): Record<Name, number> {
  return parse(`{${JSON.stringify(name)}:${amount}}`) as Record<Name, number>;
}

import { parse } from '../../sdk/src/decimal.ts';

/** Digits with an optional decimal point. */
const PLAIN = /^\d+(?:\.\d+)?$/;
/** Spaces and apostrophes between digits, as some locales write them. */
const BLANKS = /[\s'\u2019]/g;

/**
 * Reads an amount as a person of a locale writes it. `1,234.50`, or in German `1.234,50`, gives `1234.50`. In German, a point is the
 * decimal point too, unless it separates groups of three digits.
 * @returns plain notation, or undefined if the text is not an amount
 */
export function readAmount(text: string, locale: string): string | undefined {
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  const isComma = parts.some(({ type, value }) => type === 'decimal' && value === ',');
  const bare = text.replace(BLANKS, '');
  const pointed = isComma ? withPoint(bare) : withoutGroups(bare, ',');
  return pointed !== undefined && PLAIN.test(pointed) ? pointed.replace(/^0+(?=\d)/, '') : undefined;
}

/** Reads a text in a locale whose decimal sign is the comma. */
function withPoint(text: string): string | undefined {
  const grouped = withoutGroups(text.split(',')[0] ?? '', '.');
  const fraction = text.split(',').slice(1);
  if (fraction.length === 0) return grouped ?? text;
  return fraction.length === 1 && grouped !== undefined ? `${grouped}.${fraction[0]}` : undefined;
}

/** The digits without group separators; undefined if a separator is not followed by three digits. */
function withoutGroups(text: string, sign: string): string | undefined {
  const [head = '', ...groups] = text.split(sign);
  const last = groups.at(-1)?.split('.')[0];
  const whole = groups.slice(0, -1).every((group) => group.length === 3) && (last?.length ?? 3) === 3;
  return whole && (groups.length === 0 || head.length <= 3) ? head + groups.join('') : undefined;
}

/** A field of a body that holds an amount as a number with all its digits. @param amount plain notation */
export function amountField<Name extends string>(name: Name, amount: string): Record<Name, number> {
  return parse(`{${JSON.stringify(name)}:${amount}}`) as Record<Name, number>;
}

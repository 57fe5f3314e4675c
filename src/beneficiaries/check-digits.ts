import { getCountrySpecifications } from 'ibantools';
import { isCountry } from '../values/countries.ts';

/** Checks of a bank detail besides its length: pure rules for texts without blanks, in capital letters. */
const CHECKS = {
  /** Routing numbers of the American Bankers Association: weights 3, 7, 1, and a sum that is divisible by 10. */
  aba: (text: string) => weighted(text) % 10 === 0,
  /** CLABE of Mexico: the last digit makes the sum of the weighted digits' units divisible by 10. */
  clabe: (text: string) => (weightedUnits(text.slice(0, -1)) + Number(text.at(-1))) % 10 === 0,
  /** IFSC of India: four letters for the bank, a zero, and six letters or digits for the branch. */
  ifsc: (text: string) => /^[A-Z]{4}0[A-Z0-9]{6}$/.test(text),
  /** Routing numbers of Canada in the form of electronic payments. */
  leading_zero: (text: string) => text.startsWith('0'),
};
export type Check = keyof typeof CHECKS;

export function isCheck(name: unknown): name is Check {
  return typeof name === 'string' && Object.hasOwn(CHECKS, name);
}

/** Whether a text passes a check. */
export function passes(check: Check, text: string): boolean {
  return CHECKS[check](text);
}

const WEIGHTS = [3, 7, 1] as const;

function weighted(digits: string): number {
  return [...digits].reduce((sum, digit, index) => sum + Number(digit) * (WEIGHTS[index % 3] as number), 0);
}

function weightedUnits(digits: string): number {
  return [...digits].reduce((sum, digit, index) => sum + ((Number(digit) * (WEIGHTS[index % 3] as number)) % 10), 0);
}

/** The form of an IBAN in each country. The library builds this table at every call. */
const IBANS = getCountrySpecifications();

/**
 * Whether a text is an IBAN with its country's length and the right check digits (ISO 13616). 00, 01 and 99 would be second spellings of
 * other check digits, and no bank uses them.
 */
export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{1,30}$/.test(text) || /^..(?:00|01|99)/.test(text)) return false;
  if (IBANS[text.slice(0, 2)]?.chars !== text.length) return false;
  let remainder = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}

/** Whether a text is a BIC of 8 or 11 characters with a valid country (ISO 9362). */
export function isBic(text: string): boolean {
  return /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(text) && isCountry(text.slice(4, 6));
}

/** The country of a BIC. */
export function countryOfBic(bic: string): string {
  return bic.slice(4, 6);
}

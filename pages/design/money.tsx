import type { ReactNode } from 'react';
import { useLocale } from '../texts/text.tsx';
import { numberFormat } from './formats.ts';

/** The maximum of fraction digits in Intl. */
const MAX_FRACTION_DIGITS = 100;

/** A longer amount may be broken over lines if a table has no room for it. */
const LONG_CHARACTERS = 24;

/** A longer amount has no room in half a phone: in facts and figures it has the whole line. */
const WIDE_CHARACTERS = 15;

/**
 * A decimal text in a locale, never rounded. It has at least the places of its currency, and as many as the text needs.
 * @param amount plain decimal text, as `decimal` of the data client gives it
 */
export function formatAmount(amount: string, currency: string | undefined, locale: string): string {
  const places = Math.min(amount.split('.')[1]?.replace(/0+$/, '').length ?? 0, MAX_FRACTION_DIGITS);
  const least = Math.max(placesOf(currency), places);
  const format = numberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: least });
  return format.format(amount as Intl.StringNumericLiteral);
}

/** An amount after its currency, as one unbroken text. */
export function formatMoney(amount: string, currency: string, locale: string): string {
  return `${currency}\u00a0${formatAmount(amount, currency, locale)}`;
}

/** The usual decimal places of a currency: JPY has none, KWD has three. */
function placesOf(currency: string | undefined): number {
  if (currency === undefined || !/^[A-Z]{3}$/.test(currency)) return 0;
  return numberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

interface MoneyProps {
  amount: string | null;
  currency: string;
}

/** An amount of money. It stays a text from the answer to the page, and never becomes a number. */
export function Money({ amount, currency }: MoneyProps): ReactNode {
  const locale = useLocale();
  if (amount === null) return null;
  const text = formatMoney(amount, currency, locale);
  return <span className={`money ${widthOf(text)}`.trim()}>{text}</span>;
}

function widthOf({ length }: string): 'long' | 'wide' | '' {
  if (length > LONG_CHARACTERS) return 'long';
  return length > WIDE_CHARACTERS ? 'wide' : '';
}

import { minorUnits } from '../values/currencies.ts';
import { numeral } from '../values/money.ts';

/** How documents write amounts and currencies. Nothing is rounded: a document shows every stored digit. */

const names = new Intl.DisplayNames('en-GB', { type: 'currency', fallback: 'code' });
/** ISO 4217 allows 4; amounts are stored with at most 8 (money.ts). */
const MAX_DECIMALS = 20;
const formats = new Map<string, Intl.NumberFormat>();

/** The English name of a currency, such as `Pound sterling`; its code if it has none. */
export function currencyName(code: string): string {
  if (!/^[A-Z]{3}$/.test(code)) return code;
  const name = names.of(code) ?? code;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * A decimal string grouped by thousands, with at least the currency's minor units and every stored digit:
 * `1234.5` of GBP is `1,234.50`, `0.12345` stays `0.12345`. Negative amounts carry a minus sign (U+2212).
 */
export function groupedAmount(amount: string, currency: string): string {
  let format = formats.get(currency);
  if (!format) {
    format = new Intl.NumberFormat('en-GB', {
      minimumFractionDigits: minorUnits(currency),
      maximumFractionDigits: MAX_DECIMALS,
    });
    formats.set(currency, format);
  }
  return format.format(numeral(amount)).replace('-', '\u2212');
}

/** An amount in the form that templates take. */
export interface DrawnMoney {
  currency: string;
  figure: string;
  name: string;
}

export function drawnMoney(amount: string, currency: string): DrawnMoney {
  return { currency, figure: groupedAmount(amount, currency), name: currencyName(currency) };
}

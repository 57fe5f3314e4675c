import { decimal } from '../../sdk/src/decimal.ts';
import type { Payment } from './payments.ts';

/** The sum of payments in one currency. */
export interface Sum {
  currency: string;
  count: number;
  /** A decimal text. */
  amount: string;
}

/** Adds decimal texts without rounding. */
export function addDecimals(texts: readonly string[]): string {
  const places = Math.max(0, ...texts.map((text) => text.split('.')[1]?.length ?? 0));
  const units = texts.reduce((sum, text) => {
    const [whole = '0', fraction = ''] = text.split('.');
    return sum + BigInt(whole + fraction.padEnd(places, '0'));
  }, 0n);
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const at = digits.length - places;
  return `${units < 0n ? '-' : ''}${digits.slice(0, at)}${places > 0 ? `.${digits.slice(at)}` : ''}`;
}

/** The sum of payments in each currency, sorted by currency. */
export function sumsOf(payments: readonly Payment[]): Sum[] {
  const groups = Map.groupBy(payments, ({ payment_currency: currency }) => currency);
  return [...groups]
    .map(([currency, own]) => ({
      currency,
      count: own.length,
      amount: addDecimals(own.map((payment) => decimal(payment, 'amount'))),
    }))
    .sort((a, b) => a.currency.localeCompare(b.currency));
}

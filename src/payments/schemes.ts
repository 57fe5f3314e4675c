import Big from 'big.js';
import type { SCHEMES } from './declaration.ts';

/** Decides which scheme a payment takes. Pure rules. */

export type Scheme = (typeof SCHEMES)[number];

/** A rule of the table of schemes. */
export interface SchemeRule {
  payment_currency: string;
  /** The country of the payee's bank: a code, `SEPA`, or null for any. */
  bank_country: string | null;
  /** The largest amount for the rule, as a decimal; null: no limit. */
  maximum: string | null;
  scheme: Scheme;
  /** Until when an order still counts as of today, `HH:MM`; null: the currency's cut-off. */
  cutoff_time: string | null;
  cutoff_timezone: string;
  /** Whether weekends and holidays count as business days. */
  every_day: boolean;
}

/** The cut-off and the days of a scheme if its rule does not set them. */
export const OPEN_RULE = { cutoff_time: null, cutoff_timezone: 'Europe/London', every_day: false };
const rule = (currency: string, country: string, scheme: Scheme, maximum: string | null = null): SchemeRule => {
  return { payment_currency: currency, bank_country: country, maximum, scheme, ...OPEN_RULE };
};

/** The table of an institution that has not set one. */
export const DEFAULT_RULES: readonly SchemeRule[] = [
  rule('EUR', 'SEPA', 'SEPA'),
  rule('GBP', 'GB', 'FPS', '1000000'),
  rule('GBP', 'GB', 'CHAPS'),
  rule('USD', 'US', 'ACH', '1000000'),
  rule('USD', 'US', 'FEDWIRE'),
  rule('MXN', 'MX', 'LOCAL'),
];

/** What determines the scheme. */
interface Routed {
  payment_currency: string;
  /** A decimal. */
  amount: string;
  /** The country of the payee's bank, from `bankCountry`. */
  country: string | undefined;
}

/** The scheme of a payment: that of the first rule that fits, or else SWIFT. @param sepa the countries of SEPA */
export function schemeRuleFor(rules: readonly SchemeRule[], payment: Routed, sepa: ReadonlySet<string>): SchemeRule {
  const { payment_currency: currency, amount, country = '' } = payment;
  const found = rules.find(
    ({ payment_currency: ofRule, bank_country: place, maximum }) =>
      ofRule === currency &&
      (place === null || (place === 'SEPA' ? sepa.has(country) : place === country)) &&
      (maximum === null || new Big(amount).lte(maximum)),
  );
  return found ?? { payment_currency: currency, bank_country: null, maximum: null, scheme: 'SWIFT', ...OPEN_RULE };
}

/** The place of the country in a BIC. */
const BIC_COUNTRY = [4, 6] as const;

/** The country of a payee's bank: the given one, or else the IBAN's, or else the BIC's. */
export function bankCountry(payee: {
  bank_country_code?: string | null;
  iban: string | null;
  swift_code: string | null;
}): string | undefined {
  return payee.bank_country_code ?? payee.iban?.slice(0, 2) ?? payee.swift_code?.slice(...BIC_COUNTRY);
}

import Big from 'big.js';
import type { SCHEMES } from './declaration.ts';

/** Which scheme a payment takes: pure rules. */

export type Scheme = (typeof SCHEMES)[number];

/** A rule of the table of schemes. */
export interface SchemeRule {
  payment_currency: string;
  /** The payee's bank is there: a country, `SEPA`, or null for anywhere. */
  bank_country: string | null;
  /** Of the amount, included; null: no limit. A decimal. */
  maximum: string | null;
  scheme: Scheme;
  /** Orders of today are taken before it, `HH:MM`; null: the currency's cut-off. */
  cutoff_time: string | null;
  cutoff_timezone: string;
  /** Weekends and holidays count as business days. */
  every_day: boolean;
}

/** The cut-off and the days of a scheme where its rule says nothing. */
export const OPEN_RULE = { cutoff_time: null, cutoff_timezone: 'Europe/London', every_day: false };
const rule = (currency: string, country: string, scheme: Scheme, maximum: string | null = null): SchemeRule => {
  return { payment_currency: currency, bank_country: country, maximum, scheme, ...OPEN_RULE };
};

/** The table of an institution that has set none. */
export const DEFAULT_RULES: readonly SchemeRule[] = [
  rule('EUR', 'SEPA', 'SEPA'),
  rule('GBP', 'GB', 'FPS', '1000000'),
  rule('GBP', 'GB', 'CHAPS'),
  rule('USD', 'US', 'ACH', '1000000'),
  rule('USD', 'US', 'FEDWIRE'),
  rule('MXN', 'MX', 'LOCAL'),
];

/** What a scheme is chosen by. */
interface Routed {
  payment_currency: string;
  /** A decimal. */
  amount: string;
  /** Of the payee's bank, as `bankCountry` gives it. */
  country: string | undefined;
}

/** The scheme of a payment: that of the first rule that fits, else SWIFT. @param sepa the countries of SEPA */
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

/** Where the country stands in a BIC. */
const BIC_COUNTRY = [4, 6] as const;

/** The country of a payee's bank: the one that is given, else the IBAN's, else the BIC's. */
export function bankCountry(payee: {
  bank_country_code?: string | null;
  iban: string | null;
  swift_code: string | null;
}): string | undefined {
  return payee.bank_country_code ?? payee.iban?.slice(0, 2) ?? payee.swift_code?.slice(...BIC_COUNTRY);
}

import { createAccountDetails } from '../../accounts/account-details.ts';
import type { Act } from '../../audit/act.ts';
import type { Transaction } from '../../database/database.ts';
import { setCurrency } from '../../exchange/currency.ts';
import { setRates } from '../../exchange/exchange-rates.ts';
import { setPricing } from '../../exchange/pricing.ts';
import { namesOf } from '../../values/unknown.ts';
import { DEMO_RATES } from './banks.ts';
import { HOLIDAYS } from './calendars.ts';

/** The number of years with holidays, starting with this year. */
const CALENDAR_YEARS = 3;

/** Until when an order of today counts as of today. */
const CUTOFFS: Record<keyof typeof HOLIDAYS, { cutoff_time: string; cutoff_timezone: string }> = {
  EUR: { cutoff_time: '15:00', cutoff_timezone: 'Europe/Berlin' },
  GBP: { cutoff_time: '15:30', cutoff_timezone: 'Europe/London' },
  USD: { cutoff_time: '16:00', cutoff_timezone: 'America/New_York' },
};

const swift = { account_number_type: 'IBAN' as const, bank_identifier_type: 'SWBIC' };
/** Where all clients pay in: example accounts of the IBAN registry. */
const PAY_IN: Record<keyof typeof HOLIDAYS, { country: string; iban: string; bic: string }> = {
  EUR: { country: 'DE', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
  GBP: { country: 'GB', iban: 'GB29NWBK60161331926819', bic: 'NWBKGB2LXXX' },
  USD: { country: 'GB', iban: 'GB33BUKB20201555555555', bic: 'BUKBGB22XXX' },
};

/** Creates what applies to all clients: rates, prices, the days and times of the currencies, and where to pay in. @param today London day */
export async function putMarkets(tx: Transaction, act: Act, today: string): Promise<void> {
  await setRates(tx, act, { base_currency: 'GBP', rates: DEMO_RATES });
  const pairs = [
    { sell_currency: 'GBP', buy_currency: 'EUR', spread_bps: 40 },
    { sell_currency: 'EUR', buy_currency: 'GBP', spread_bps: 40 },
  ];
  await setPricing(tx, act, 'sandbox', { default_spread_bps: 60, spreads: pairs });
  const years = Array.from({ length: CALENDAR_YEARS }, (_, index) => Number(today.slice(0, 4)) + index);
  for (const currency of namesOf(HOLIDAYS)) {
    const settings = { ...CUTOFFS[currency], holidays: years.flatMap(HOLIDAYS[currency]) };
    await setCurrency(tx, act, currency, settings);
    const { country, iban, bic } = PAY_IN[currency];
    await createAccountDetails(tx, act, {
      ...{ currency, country, financial_institution_name: 'Lombard Bank', account_holder_name: 'Lombard client money' },
      international: { ...swift, account_number: iban, bank_identifier: bic },
    });
  }
}

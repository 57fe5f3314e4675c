import type { Db } from '../database/database.ts';
import { readTogether } from '../database/rows.ts';
import { CLIENT_PRICING_SELECT, type ClientPricing, pricingOf } from '../exchange/client-pricing.ts';
import {
  CURRENCY_SELECT,
  type CurrencyRow,
  type CurrencySettings,
  defaultSettings,
  settingsOf,
} from '../exchange/currency.ts';
import { SCHEMES_SELECT } from './scheme-settings.ts';
import { DEFAULT_RULES, type SchemeRule } from './schemes.ts';

/** What the institution has set that an order of payments is judged by. */
export interface OrderSettings {
  /** Of any currency; by default where nobody has set any. */
  currency(code: string): CurrencySettings;
  schemes: readonly SchemeRule[];
  pricing: ClientPricing;
}

interface Lists {
  currencies: CurrencyRow;
  schemes: { rules: SchemeRule[] };
  pricing: ClientPricing;
}

/** Reads them by one statement. @param currencies whose settings may be asked for */
export async function readOrderSettings(
  db: Db,
  clientId: string,
  currencies: readonly string[],
): Promise<OrderSettings> {
  const found = await readTogether<Lists>(
    db,
    {
      currencies: `${CURRENCY_SELECT} where currency = any($2::text[])`,
      schemes: SCHEMES_SELECT,
      pricing: CLIENT_PRICING_SELECT,
    },
    [clientId, currencies],
  );
  const settings = new Map(found.currencies.map((row) => [row.currency, settingsOf(row)]));
  return {
    currency: (code) => settings.get(code) ?? defaultSettings(code),
    schemes: found.schemes[0]?.rules ?? DEFAULT_RULES,
    pricing: pricingOf(clientId, found.pricing[0]),
  };
}

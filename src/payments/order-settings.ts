import { isDistributed } from '../database/cells/pool.ts';
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

/** The institution's settings for judging an order of payments. */
export interface OrderSettings {
  /** The settings of any currency; defaults if nothing is set. */
  currency(code: string): CurrencySettings;
  schemes: readonly SchemeRule[];
  pricing: ClientPricing;
}

interface Lists {
  currencies: CurrencyRow;
  schemes: { rules: SchemeRule[] };
  pricing: ClientPricing;
}

/** What an order is paid from. Its currency is also that of the payments. */
interface PaidFrom {
  trade: string | undefined;
  /** The number of a currency account. */
  account: number | undefined;
  quote: string | undefined;
}

const FUNDING = 'select currency from currency_accounts where client_id = $1 and account_id = $2';
const BOUGHT = `select buy_currency as currency from trades where client_id = $1 and trade_id = $3
  union select buy_currency as currency from quotes where client_id = $1 and quote_id = $4`;
/** The currency of the client's daily limit. */
const LIMIT = `select daily_payment_limit ->> 'currency' as currency from clients where client_id = $1`;

/**
 * Reads the settings, including those of the order's currency and of the client's limit. It takes one statement, or two if a Citus worker
 * holds the accounts and trades.
 */
export async function readOrderSettings(
  db: Db,
  clientId: string,
  { trade, account, quote }: PaidFrom,
): Promise<OrderSettings> {
  const paid = [clientId, account ?? null, trade ?? null, quote ?? null];
  const apart = isDistributed(db)
    ? (await db.query<{ currency: string }>(`${FUNDING} union ${BOUGHT}`, paid)).rows.map(({ currency }) => currency)
    : undefined;
  if (apart) return readSettingsOf(db, clientId, apart);
  // The name of the statement is made from the names of the lists.
  const { paid: currencies, ...found } = await readTogether<Omit<Lists, 'currencies'> & { paid: CurrencyRow }>(
    db,
    { paid: `${CURRENCY_SELECT} where currency in (${FUNDING} union ${BOUGHT} union ${LIMIT})`, ...COMMON },
    paid,
  );
  return settingsIn(clientId, { currencies, ...found });
}

const COMMON = { schemes: SCHEMES_SELECT, pricing: CLIENT_PRICING_SELECT };

/** Like `readOrderSettings`, with the settings of the given currencies and of the client's limit. */
export async function readSettingsOf(db: Db, clientId: string, codes: readonly string[]): Promise<OrderSettings> {
  const currencies = `${CURRENCY_SELECT} where currency = any($2::text[]) or currency in (${LIMIT})`;
  return settingsIn(clientId, await readTogether<Lists>(db, { currencies, ...COMMON }, [clientId, codes]));
}

function settingsIn(
  clientId: string,
  { currencies, schemes, pricing }: { [Name in keyof Lists]: Lists[Name][] },
): OrderSettings {
  const settings = new Map(currencies.map((row) => [row.currency, settingsOf(row)]));
  return {
    currency: (code) => settings.get(code) ?? defaultSettings(code),
    schemes: schemes[0]?.rules ?? DEFAULT_RULES,
    pricing: pricingOf(clientId, pricing[0]),
  };
}

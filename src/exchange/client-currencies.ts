import { type Static, Type } from 'typebox';
import { type Db, first } from '../database/database.ts';
import { addDays, instantIn, londonDay, offsetIn } from '../values/calendar.ts';
import { Nullable } from '../values/schemas.ts';
import { closedBy } from './business-days.ts';
import { isAllowed, readClientPricing } from './client-pricing.ts';
import { type CurrencySettings, defaultSettings, readCurrencies } from './currency.ts';

/** Days from today for which holidays are listed: as far ahead as a payment can be ordered. */
const DAYS_AHEAD = 366;

/** A currency in the form that a client sees. */
export const CLIENT_CURRENCY = Type.Object({
  currency: Type.String(),
  available_for_trading: Type.Boolean({
    description: 'FX is enabled for the client, and it may buy or sell the currency',
  }),
  buy_allowed: Type.Boolean(),
  sell_allowed: Type.Boolean(),
  decimals: Type.Integer({ description: 'Digits after the point of an amount' }),
  cutoff: Type.Object(
    {
      day: Type.Integer({ description: 'Business days until a spot is due' }),
      time: Nullable(Type.String({ description: 'Until when an order of today is taken, with its offset' })),
    },
    { title: 'Cutoff' },
  ),
  holidays: Type.Array(Type.String({ format: 'date' }), { description: 'A year ahead, without weekends' }),
  default: Type.Boolean({ description: 'It is offered first' }),
});
type ClientCurrency = Static<typeof CLIENT_CURRENCY>;
interface Used extends Record<string, unknown> {
  currency: string;
}

/** The currencies that have settings or a rate, or in which the client has an account, in the order of their codes. */
export async function clientCurrencies(db: Db, clientId: string, now: Date): Promise<ClientCurrency[]> {
  const pricing = await readClientPricing(db, clientId);
  const settings = new Map((await readCurrencies(db)).map((each) => [each.currency, each]));
  const owned = await db.query<Used>(
    'select currency from currency_accounts where client_id = $1 union select currency from accounts where client_id = $1',
    [clientId],
  );
  const rated = await db.query<Used>(
    'select base_currency as currency from exchange_rates union select currency from exchange_rates',
  );
  const client = first(
    await db.query<{ fx_enabled: boolean }>('select fx_enabled from clients where client_id = $1', [clientId]),
  );
  const codes = new Set([...settings.keys(), ...[...owned.rows, ...rated.rows].map(({ currency }) => currency)]);
  return [...codes].sort().map((currency) => {
    const bought = isAllowed(pricing, currency, 'buy_allowed');
    const sold = isAllowed(pricing, currency, 'sell_allowed');
    const own = settings.get(currency) ?? defaultSettings(currency);
    return {
      currency,
      available_for_trading: (client?.fx_enabled ?? false) && (bought || sold),
      buy_allowed: bought,
      sell_allowed: sold,
      decimals: own.decimals,
      cutoff: { day: own.cutoff_days, time: cutoffOf(own, now) },
      holidays: holidaysOf(own, londonDay(now)),
      default: currency === pricing.default_currency,
    };
  });
}

/** Today's cut-off with its offset, such as `15:30+01:00`. */
function cutoffOf({ cutoff_time: time, cutoff_timezone: zone }: CurrencySettings, now: Date): string | null {
  return time === null ? null : `${time}${offsetIn(zone, instantIn(zone, londonDay(now), time))}`;
}

function holidaysOf({ holidays, weekend }: CurrencySettings, today: string): string[] {
  const last = addDays(today, DAYS_AHEAD);
  return holidays
    .map(({ date }) => date)
    .filter((date) => date >= today && date <= last && closedBy(date, { weekend, holidays: [] }) === undefined)
    .sort();
}

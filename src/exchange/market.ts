import type { Db } from '../database/database.ts';
import { readTogether } from '../database/rows.ts';
import { Problem } from '../values/errors.ts';
import { inverted, plus, type Ratio, ratioOf, times } from '../values/ratio.ts';
import { CLIENT_PRICING_SELECT, type ClientPricing, pricingOf } from './client-pricing.ts';
import { CURRENCY_SELECT, type CurrencyRow, type CurrencySettings, defaultSettings, settingsOf } from './currency.ts';
import { findRate, type RateRow, ratesOf } from './exchange-rates.ts';
import { POINTS_SELECT, type PointsRow } from './forward-points.ts';
import type { FxAvailability } from './fx-availability.ts';
import { pointsAt } from './price.ts';
import { defaultPricing, type Environment, PRICING, type Pricing } from './pricing.ts';

/** A pair of currencies: what is sold, and what is bought for it. */
export interface Pair {
  sell_currency: string;
  buy_currency: string;
}

/** Everything that the price of an exchange depends on, at one moment. */
export interface Market {
  fxEnabled: boolean;
  fx: FxAvailability;
  rates: RateRow[];
  points: PointsRow[];
  pricing: Pricing;
  ofClient: ClientPricing;
  /** The settings of a currency of the pair. */
  currency(code: string): CurrencySettings;
}

interface Lists {
  client: { fx_enabled: boolean };
  fx: FxAvailability;
  rates: RateRow;
  points: PointsRow;
  pricing: Pricing;
  own: ClientPricing;
  currencies: CurrencyRow;
}

/** Reads the market in one statement. */
export async function readMarket(
  db: Db,
  environment: Environment,
  { clientId, sell_currency: sold, buy_currency: bought }: Pair & { clientId: string },
): Promise<Market> {
  const found = await readTogether<Lists>(
    db,
    {
      client: 'select fx_enabled from clients where client_id = $1',
      fx: 'select mode, holidays::text[] as holidays from fx_availability',
      rates: ratesOf('$2', '$3'),
      points: `${POINTS_SELECT} where (sell_currency, buy_currency) in (($2, $3), ($3, $2))`,
      pricing: `select ${PRICING.select} from pricing`,
      own: CLIENT_PRICING_SELECT,
      currencies: `${CURRENCY_SELECT} where currency in ($2, $3)`,
    },
    [clientId, sold, bought],
  );
  const settings = new Map(found.currencies.map((row) => [row.currency, settingsOf(row)]));
  return {
    fxEnabled: found.client[0]?.fx_enabled ?? false,
    fx: found.fx[0] ?? { mode: 'auto', holidays: [] },
    rates: found.rates,
    points: found.points,
    pricing: found.pricing[0] ?? defaultPricing(environment),
    ofClient: pricingOf(clientId, found.own[0]),
    currency: (code) => settings.get(code) ?? defaultSettings(code),
  };
}

/** A price before the spread, and the moment from which its table of rates applies. */
export interface Mid {
  mid: Ratio;
  asOf: Date;
}

/**
 * Bought units for one sold unit, before the spread.
 * @param days calendar days from today to the value date of a forward; undefined for a spot
 * @returns zero or less if the points of a forward use up its rate
 * @throws Problem exchange_rate_missing
 */
export function midOf(market: Pick<Market, 'rates' | 'points'>, pair: Pair, days?: number): Mid {
  const { sell_currency: sold, buy_currency: bought } = pair;
  const found = findRate(market.rates, sold, bought);
  if (!found) throw missing(pair, 'no rate is known');
  const spot = times(ratioOf(found.numerator), inverted(ratioOf(found.denominator)));
  if (days === undefined) return { mid: spot, asOf: found.asOf };
  const pointsOf = (one: string, other: string) =>
    market.points.find((each) => each.sell_currency === one && each.buy_currency === other)?.points;
  const own = pointsOf(sold, bought);
  const added = pointsAt(own ?? pointsOf(bought, sold) ?? [], days);
  if (!added) throw missing(pair, `no forward points are known for a day so far away, ${days} days,`);
  if (own) return { mid: plus(spot, added), asOf: found.asOf };
  // The rate of the opposite pair: its own if it has one, otherwise the inverse.
  const opposite = findRate(market.rates, bought, sold) ?? found;
  const forward = plus(times(ratioOf(opposite.numerator), inverted(ratioOf(opposite.denominator))), added);
  // Zero has no inverse. The caller refuses it as a price anyway.
  return { mid: forward.numerator === 0n ? forward : inverted(forward), asOf: opposite.asOf };
}

function missing({ sell_currency: sold, buy_currency: bought }: Pair, what: string): Problem {
  return new Problem('exchange_rate_missing', {
    field: 'buy_currency',
    message: `${what} between ${sold} and ${bought}; ask the institution`,
  });
}

/** The spread of a pair. The first that is set counts: the client's for the pair, the client's, the pair's, the default. */
export function spreadOf({ pricing, ofClient }: Pick<Market, 'pricing' | 'ofClient'>, pair: Pair): number {
  const ofPair = (spreads: Pricing['spreads']) =>
    spreads.find(
      ({ sell_currency: sold, buy_currency: bought }) => sold === pair.sell_currency && bought === pair.buy_currency,
    )?.spread_bps;
  return ofPair(ofClient.spreads) ?? ofClient.spread_bps ?? ofPair(pricing.spreads) ?? pricing.default_spread_bps;
}

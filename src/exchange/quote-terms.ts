import Big from 'big.js';
import { daysBetween, londonDay } from '../values/calendar.ts';
import { type BodyFault, Problem } from '../values/errors.ts';
import { decimalsOf } from '../values/money.ts';
import { isAllowed } from './client-pricing.ts';
import type { CurrencySettings } from './currency.ts';
import { marketsOpen } from './fx-availability.ts';
import { type Market, type Mid, midOf, type Pair, spreadOf } from './market.ts';
import { type FixedSide, type Price, priceOf } from './price.ts';
import { judgeValueDate, maturityOf, type ValueDate } from './value-date.ts';

/** The terms of a quote, and the reasons to refuse one (instructions, 7). Pure rules. */

/** A request for a quote that has passed its schema. */
export interface QuoteRequest extends Pair {
  operation: FixedSide;
  /** Decimal in plain notation. */
  amount: string;
  trade_type: 'spot' | 'forward';
  /** `YYYY-MM-DD` */
  value_date?: string | undefined;
}

/** The terms of a quote. */
export interface QuoteTerms extends Price, Mid {
  spreadBps: number;
  valueDate: ValueDate;
  maturity: Date;
}

/**
 * The faults of a request that its schema cannot find.
 * @param given the fields without faults
 */
export function quoteFaults(market: Market, given: Partial<QuoteRequest>, now: Date): BodyFault[] {
  const { operation, amount, sell_currency: sold, buy_currency: bought, trade_type: kind } = given;
  const faults: BodyFault[] = [];
  const refuse = (field: string, message: string) => faults.push({ field, message, code: 'invalid_format' });
  const fixed = operation && given[`${operation}_currency`];
  if (amount !== undefined && fixed !== undefined) {
    const { decimals } = market.currency(fixed);
    if (decimalsOf(amount) > decimals) refuse('amount', `must have at most ${decimals} decimals, as ${fixed} has`);
  }
  if (sold === undefined || bought === undefined) return faults;
  if (sold === bought) refuse('sell_currency', 'must differ from buy_currency');
  if (kind === undefined) return faults;
  const dated = judgeValueDate({ kind, asked: given.value_date, ...settled(market, given as Pair), now });
  return 'code' in dated ? [...faults, dated] : faults;
}

function settled(market: Market, { sell_currency: sold, buy_currency: bought }: Pair) {
  return { currencies: [market.currency(sold), market.currency(bought)] as const };
}

/**
 * The terms of a quote for a request without faults.
 * @param firm whether it will be booked; otherwise it is an estimate
 * @throws Problem fx_not_enabled, fx_closed, currency_not_allowed, exchange_rate_missing, exchange_rate_stale, amount_out_of_range
 */
export function quoteTerms(
  market: Market,
  request: QuoteRequest,
  { now, firm }: { now: Date; firm: boolean },
): QuoteTerms {
  const open = marketsOpen(market.fx, now);
  if (!market.fxEnabled)
    throw new Problem('fx_not_enabled', 'the client may not trade FX; ask the institution to enable it');
  if (firm && !open) throw new Problem('fx_closed', 'FX is closed now; an estimate is possible');
  requireAllowed(market, request);
  const dated = judgeValueDate({
    ...{ kind: request.trade_type, asked: request.value_date, now },
    ...settled(market, request),
  });
  if ('code' in dated) throw new TypeError('the request has a fault');
  const days = request.trade_type === 'forward' ? daysBetween(londonDay(now), dated.date) : undefined;
  const { mid, asOf } = midOf(market, request, days);
  const maxAge = market.pricing.rate_max_age_seconds;
  if (maxAge > 0 && (firm || open) && now.getTime() - asOf.getTime() > maxAge * 1_000)
    throw new Problem('exchange_rate_stale', {
      field: 'buy_currency',
      message: 'the rate of this pair is too old to be used; try again later',
    });
  const sides = { buy: market.currency(request.buy_currency), sell: market.currency(request.sell_currency) };
  const spreadBps = spreadOf(market, request);
  const decimals = { buy: sides.buy.decimals, sell: sides.sell.decimals };
  const price = priceOf({ operation: request.operation, amount: request.amount, mid, spreadBps, decimals });
  requireWithin(sides.buy, price.buyAmount);
  requireWithin(sides.sell, price.sellAmount);
  return { ...price, mid, asOf, spreadBps, valueDate: dated, maturity: maturityOf(dated.date, sides.sell) };
}

/** @throws Problem currency_not_allowed */
function requireAllowed({ ofClient }: Market, { sell_currency: sold, buy_currency: bought }: Pair): void {
  if (!isAllowed(ofClient, bought, 'buy_allowed'))
    throw new Problem('currency_not_allowed', { field: 'buy_currency', message: `the client may not buy ${bought}` });
  if (!isAllowed(ofClient, sold, 'sell_allowed'))
    throw new Problem('currency_not_allowed', { field: 'sell_currency', message: `the client may not sell ${sold}` });
}

/** @throws Problem amount_out_of_range */
function requireWithin({ currency, minimum, maximum }: CurrencySettings, amount: string): void {
  const said = minimum && new Big(amount).lt(minimum.text) ? `at least ${minimum.text}` : undefined;
  const limit = said ?? (maximum && new Big(amount).gt(maximum.text) ? `at most ${maximum.text}` : undefined);
  if (limit === undefined) return;
  throw new Problem('amount_out_of_range', { field: 'amount', message: `${amount} ${currency} must be ${limit}` });
}

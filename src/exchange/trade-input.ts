import { isCalendarDay, londonDay } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { decimal, MAX_RATE_DECIMALS } from '../values/money.ts';
import { inverted, ratioOf, rounded, times } from '../values/ratio.ts';
import { parseMaturity, type TradeInput } from './trade-declaration.ts';

/** The fields of a trade in their stored form. */
export type TradeValues = Omit<ReadTrade, 'sold'> & { sellAmount: string };

/** The fields of a trade that was read. What it sells depends on the decimals that the institution has set for the currency. */
export type ReadTrade = ReturnType<typeof readTrade>;

/** Settles what a trade sells. @param decimals of the sold currency @throws Problem invalid_body */
export function settled(values: ReadTrade | TradeValues, decimals: number): TradeValues {
  if ('sellAmount' in values) return values;
  const { sold, ...others } = values;
  return { ...others, sellAmount: sold(decimals) };
}

/**
 * Reads and checks the fields of a trade.
 * @param inside path of the trade in the request, which precedes the names of its fields: `trades[0].`
 * @throws Problem invalid_body, invalid_parameter
 */
export function readTrade(input: TradeInput, now: Date, inside = '') {
  const drawn = input.parent_trade_id != null;
  const type = input.trade_type ?? (drawn ? 'drawdown' : 'spot');
  if ((type === 'drawdown') !== drawn) {
    throw new Problem('invalid_body', {
      field: `${inside}parent_trade_id`,
      message: 'is required for a drawdown, and only a drawdown has one',
    });
  }
  if (input.buy_currency === input.sell_currency && input.trade_type !== undefined && type === 'ndf') {
    throw new Problem('invalid_body', { field: `${inside}sell_currency`, message: 'must differ from buy_currency' });
  }
  const rate = decimal(input.rate, `${inside}rate`, { positive: true, decimals: MAX_RATE_DECIMALS });
  const buyAmount = decimal(input.buy_amount, `${inside}buy_amount`, { positive: true });
  // The rate is the number of bought units for one sold unit: buy = sell x rate, as `rate_symbol` (sell/buy) says.
  const sold = (decimals: number): string =>
    input.sell_amount === undefined
      ? rounded(times(ratioOf(buyAmount), inverted(ratioOf(rate))), decimals, 'half-even')
      : decimal(input.sell_amount, `${inside}sell_amount`, { positive: true, decimals });
  const orderDate = input.order_date ?? londonDay(now);
  if (!isCalendarDay(orderDate))
    throw new Problem('invalid_body', {
      field: `${inside}order_date`,
      message: 'must be a calendar day as YYYY-MM-DD',
    });
  const maturity = input.maturity_date != null ? parseMaturity(input.maturity_date, inside) : null;
  return {
    type,
    rate,
    buyAmount,
    sold,
    orderDate,
    maturity,
    feeAmount: input.fee_amount == null ? null : decimal(input.fee_amount, `${inside}fee_amount`),
    symbol: input.rate_symbol ?? `${input.sell_currency}${input.buy_currency}`,
  };
}

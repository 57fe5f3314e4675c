import Big from 'big.js';
import { addDays } from '../../values/calendar.ts';
import { minorUnits } from '../../values/currencies.ts';
import { DEMO_RATES } from './banks.ts';
import type { DemoPayment } from './history.ts';

export interface DemoTrade {
  trade_id: string;
  client_id: string;
  contact_id: string;
  buy_currency: string;
  sell_currency: string;
  buy_amount: string;
  rate: string;
  status: 'Created' | 'Closed' | 'Funds In Full';
  order_date: string;
  maturity_date: string;
  reference: string;
}

/** Days of payments that one trade of a client and currency funds: a quarter of a year. */
const FUNDED_DAYS = 92;
/** Days from booking a trade to its maturity (spot). */
const SPOT_DAYS = 2;
/** Pounds for one euro. Payments in pounds are funded with euros. */
const EURO_RATE = '0.8540';

/**
 * The trades that fund payments: one for each client, currency and quarter, for each currency of an open multi payment, or for each order.
 * It also sets the trade_id of each payment.
 */
export function fundingTrades(payments: DemoPayment[]): DemoTrade[] {
  const trades = new Map<string, DemoTrade>();
  // The trades of orders come last.
  const others = payments.filter(({ fundingAccount }) => fundingAccount === undefined);
  const ordered = payments.filter(({ fundingAccount }) => fundingAccount !== undefined);
  for (const { input, age, multipayment, ownTrade, fundingAccount } of [...others, ...ordered]) {
    const day = input.created_date.slice(0, 10);
    const fromAccount = fundingAccount !== undefined;
    const period = Math.floor(age / FUNDED_DAYS);
    const purpose = fromAccount ? input.payment_id : ownTrade ? `multi payment ${multipayment}` : period;
    const key = `${input.client_id} ${input.payment_currency} ${purpose}`;
    let trade = trades.get(key);
    if (!trade) {
      const rate = DEMO_RATES[input.payment_currency];
      trade = {
        trade_id: `TRD${String(trades.size + 1).padStart(6, '0')}`,
        client_id: input.client_id,
        contact_id: input.contact_id,
        buy_currency: input.payment_currency,
        sell_currency: fromAccount ? input.payment_currency : rate === undefined ? 'EUR' : 'GBP',
        buy_amount: '0',
        rate: fromAccount ? '1' : (rate ?? EURO_RATE),
        status: fromAccount || ownTrade ? 'Created' : age >= FUNDED_DAYS ? 'Closed' : 'Funds In Full',
        order_date: day,
        maturity_date: addDays(day, SPOT_DAYS),
        reference: fromAccount ? (input.reference ?? '') : `FX ${input.payment_currency}`,
      };
      trades.set(key, trade);
    }
    trade.buy_amount = new Big(trade.buy_amount).plus(input.amount).toFixed(minorUnits(input.payment_currency));
    input.trade_id = trade.trade_id;
  }
  return [...trades.values()];
}

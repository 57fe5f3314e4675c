import Big from 'big.js';
import type { Act } from '../audit/act.ts';
import { newId } from '../database/cells/identifiers.ts';
import { first, type Transaction, together } from '../database/database.ts';
import { londonDay } from '../values/calendar.ts';
import { type BodyFault, Problem } from '../values/errors.ts';
import { decimalsOf } from '../values/money.ts';
import { inverted, ratioOf, rounded, times } from '../values/ratio.ts';
import { CURRENCY_SELECT, type CurrencyRow, type CurrencySettings, defaultSettings, settingsOf } from './currency.ts';
import { SPOT_ONLY } from './quote-booking.ts';
import { noTrade } from './trade.ts';
import type { TradeStatus } from './trade-declaration.ts';
import {
  type Named,
  readNamed,
  requireAccount,
  requireFitting,
  requireFunds,
  type TradeOrder,
  writeOrdered,
} from './trade-order.ts';
import { judgeValueDate, maturityOf, type ValueDate } from './value-date.ts';

/** Drawdowns: parts of a window forward that a client takes at the forward's rate. */

/** What a client specifies for a drawdown. */
export interface DrawdownOrder extends TradeOrder {
  /** Decimal in plain notation. */
  buy_amount: string;
  /** `YYYY-MM-DD` */
  value_date?: string | undefined;
}

/** The trade that is drawn down, locked. Amounts are decimals. */
interface Parent {
  [column: string]: unknown;
  trade_id: string;
  trade_type: string;
  status: TradeStatus;
  rate: string;
  rate_symbol: string;
  buy_currency: string;
  sell_currency: string;
  buy_amount: string;
  sell_amount: string;
  maturity_date: Date | null;
  /** The part that its live payments and drawdowns use. */
  allocated: string;
  /** Sums of its live drawdowns. */
  drawn_buy: string;
  drawn_sell: string;
}

/** What a drawdown depends on. It is locked until the transaction ends. */
export interface DrawdownScene {
  parent: Parent | undefined;
  named: Named;
  tradeId: string;
  /** The settings of a currency. */
  currency(code: string): CurrencySettings;
}

/** The contact, and the trade that is drawn down. */
export interface Drawing {
  clientId: string;
  contactId: string;
  parentId: string;
}

/** Reads and locks what a drawdown depends on. */
export async function readDrawdown(
  tx: Transaction,
  { clientId, parentId }: Drawing,
  order: Partial<DrawdownOrder>,
): Promise<DrawdownScene> {
  tx.later({
    name: 'drawdown-lock',
    text: 'select from trades where client_id = $1 and trade_id = $2 for no key update',
    values: [clientId, parentId],
  });
  const [parents, named, tradeId, settings] = await together([
    // A separate statement, so that it sees the changes of transactions that the lock waited for.
    tx.query<Parent>({
      name: 'drawdown-parent',
      text: `select t.trade_id, t.trade_type, t.status, t.rate, t.rate_symbol, t.buy_currency, t.sell_currency, t.buy_amount, t.sell_amount,
          t.maturity_date, ${allocatedOf('t')} as allocated, coalesce(d.buy, 0) as drawn_buy, coalesce(d.sell, 0) as drawn_sell
        from trades t cross join lateral (
          select sum(buy_amount) as buy, sum(sell_amount) as sell from trades
          where client_id = $1 and parent_trade_id = $2 and status not in ('Cancelled', 'Rejected')) d
        where t.client_id = $1 and t.trade_id = $2`,
      values: [clientId, parentId],
    }),
    readNamed(tx, clientId, order),
    newId(tx, clientId, 'trade_id'),
    tx.query<CurrencyRow & Record<string, unknown>>({
      name: 'drawdown-currencies',
      text: `${CURRENCY_SELECT} where currency in (
        select unnest(array[buy_currency, sell_currency]) from trades where client_id = $1 and trade_id = $2)`,
      values: [clientId, parentId],
    }),
  ]);
  const known = new Map(settings.rows.map((row) => [row.currency, settingsOf(row)]));
  return {
    ...{ parent: first(parents), named, tradeId },
    currency: (code) => known.get(code) ?? defaultSettings(code),
  };
}

/** SQL for the part of a trade of client $1 that live payments and drawdowns use. @param alias of `trades` */
export function allocatedOf(alias: string): string {
  return `(${alias}.allocated + coalesce((select sum(a.amount) from trade_allocation_deltas a
    where a.client_id = $1 and a.trade_id = ${alias}.trade_id), 0))`;
}

/** The faults of an order that show only in its trade. Otherwise the day on which it settles. */
export function drawdownFaults(
  { parent, currency }: DrawdownScene,
  given: Partial<DrawdownOrder>,
  now: Date,
): { faults: BodyFault[]; dated: ValueDate | undefined } {
  const faults: BodyFault[] = [];
  if (given.reason === SPOT_ONLY)
    faults.push({ field: 'reason', code: 'invalid_format', message: `${SPOT_ONLY} is for a spot only` });
  if (!parent) return { faults, dated: undefined };
  const [sold, bought] = [currency(parent.sell_currency), currency(parent.buy_currency)];
  const { buy_amount: amount, value_date: asked } = given;
  if (amount !== undefined && decimalsOf(amount) > bought.decimals)
    faults.push({
      ...{ field: 'buy_amount', code: 'invalid_format' },
      message: `must have at most ${bought.decimals} decimals, as ${bought.currency} has`,
    });
  // Another trade is never drawn down, whatever the day.
  if (parent.trade_type !== 'window_forward') return { faults, dated: undefined };
  const maturity = parent.maturity_date ? londonDay(parent.maturity_date) : undefined;
  const dated = judgeValueDate({ kind: 'drawdown', asked, currencies: [sold, bought], now, maturity });
  return 'code' in dated ? { faults: [...faults, dated], dated: undefined } : { faults, dated };
}

/** @throws Problem trade_not_found, currency_account_not_found */
export function requireDrawdownParts({ parent, named }: DrawdownScene, order: Partial<DrawdownOrder>): Parent {
  if (!parent) return noTrade();
  requireAccount(order, named);
  return parent;
}

const ENDED: readonly TradeStatus[] = ['Closed', 'Cancelled', 'Rejected'];

/**
 * The sell amount of a drawdown, if the drawdown is possible.
 * @throws Problem transition_not_allowed, trade_not_open, already_exists, currency_mismatch, trade_amount_exceeded, amount_out_of_range,
 * insufficient_funds
 */
export function judgeDrawdown({ parent = noTrade(), named, currency }: DrawdownScene, amount: string): string {
  if (parent.trade_type !== 'window_forward')
    throw new Problem('transition_not_allowed', {
      field: 'trade_id',
      message: `the trade is a ${parent.trade_type}; only a window_forward can be drawn down`,
    });
  if (ENDED.includes(parent.status))
    throw new Problem('trade_not_open', { field: 'trade_id', message: `the trade is "${parent.status}"` });
  requireFitting(named, parent.sell_currency);
  const left = new Big(parent.buy_amount).minus(parent.allocated);
  if (left.lt(amount)) {
    const available = left.toFixed(Math.max(decimalsOf(parent.buy_amount), decimalsOf(parent.allocated)));
    throw new Problem(
      'trade_amount_exceeded',
      `available: ${available}, needed: ${amount}, currency: ${parent.buy_currency}`,
    );
  }
  const sell = sellAmount(parent, amount, currency(parent.sell_currency).decimals);
  if (new Big(sell).lte(0))
    throw new Problem('amount_out_of_range', { field: 'buy_amount', message: 'the sell amount would be zero' });
  requireFunds(named, sell);
  return sell;
}

/**
 * What a drawdown sells: the difference between what all drawdowns sell with it and without it. So their sum is that of the whole trade.
 * @param decimals of the sold currency
 */
export function sellAmount(
  parent: Pick<Parent, 'rate' | 'buy_amount' | 'sell_amount' | 'drawn_buy' | 'drawn_sell'>,
  amount: string,
  decimals: number,
): string {
  const left = new Big(parent.sell_amount).minus(parent.drawn_sell);
  const drawn = new Big(parent.drawn_buy).plus(amount);
  if (drawn.gte(parent.buy_amount)) return left.toFixed(Math.max(decimals, decimalsOf(parent.sell_amount)));
  const price = inverted(ratioOf(parent.rate));
  const sold = (bought: Big) => new Big(rounded(times(ratioOf(bought.toFixed()), price), decimals, 'half-even'));
  const own = sold(drawn).minus(sold(new Big(parent.drawn_buy)));
  return (own.gt(left) ? left : own).toFixed(decimals);
}

/** Writes a drawdown that was judged. */
export function writeDrawdown(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  drawdown: { drawing: Drawing; scene: DrawdownScene; order: DrawdownOrder; dated: ValueDate; sell: string },
): ReturnType<typeof writeOrdered> {
  const { drawing, scene, order, dated, sell } = drawdown;
  const { parent = noTrade(), named, tradeId, currency } = scene;
  const { buy_currency, sell_currency, rate } = parent;
  const trade = {
    id: tradeId,
    input: {
      ...{ client_id: drawing.clientId, contact_id: drawing.contactId, buy_currency, sell_currency, rate },
      ...{ parent_trade_id: parent.trade_id, buy_amount: order.buy_amount, reference: order.reference ?? null },
      ...{ fee_currency: sell_currency },
    },
    values: {
      ...{ type: 'drawdown' as const, rate, buyAmount: order.buy_amount, sellAmount: sell },
      ...{ orderDate: londonDay(act.now), maturity: maturityOf(dated.date, currency(sell_currency)) },
      ...{ feeAmount: '0', symbol: parent.rate_symbol },
    },
    ordered: {
      ...{ reason: order.reason, external_reference_id: order.external_reference_id ?? null },
      ...{ funding_account_id: order.funding_account_id ?? null, value_date: dated.date },
    },
  };
  return writeOrdered(tx, act, apiUrl, { trade, funds: named.funds });
}

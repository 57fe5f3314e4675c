import Big from 'big.js';
import { isAllowed } from '../../exchange/client-pricing.ts';
import { bookingFaults, judgeBooking, requireBookingParts } from '../../exchange/quote-booking.ts';
import { ofOnePayment } from '../../exchange/trade-status.ts';
import { notOfClient } from '../../identity/people/tenant.ts';
import {
  attempt,
  type BodyFault,
  type ErrorCode,
  Problem,
  refusalOf,
  refusedBody,
  refusedElements,
} from '../../values/errors.ts';
import { decimalsOf, sum } from '../../values/money.ts';
import { paymentDate, requireNear } from '../payment-date.ts';
import { bankCountry, type Scheme, schemeRuleFor } from '../schemes.ts';
import { amountFault, dayFault, type Order, sorted } from './order.ts';
import type { LockedTrade, OrderedPayee, OrderScene } from './scene.ts';

/** Judges whether an order can be done. It reports refusals in a fixed order, and reads nothing except the scene. */

/** The codes of refusals. The first one that applies is reported. */
export const ORDER_CODES = [
  ...(['quote_not_found', 'trade_not_found', 'currency_account_not_found'] as const),
  ...(['beneficiary_not_found', 'bank_account_not_found'] as const),
  ...(['quote_used', 'quote_expired', 'transition_not_allowed', 'trade_not_open'] as const),
  ...(['beneficiary_blocked', 'currency_mismatch'] as const),
  ...(['currency_not_allowed', 'trade_amount_exceeded', 'insufficient_funds'] as const),
  ...(['exchange_rate_missing', 'limit_exceeded'] as const),
] satisfies ErrorCode[];

/** A payment of an order that can be done, apart from its approvals and the daily limit. */
export interface JudgedPayment {
  payee: OrderedPayee;
  /** A decimal. */
  amount: string;
  date: string;
  warning: string | null;
  scheme: Scheme;
}

/** An order that can be done. */
export interface JudgedOrder {
  /** The currency of all its payments. */
  currency: string;
  payments: JudgedPayment[];
}

/**
 * Judges an order.
 * @param options `sepa`: the countries of SEPA; `faults`: of the body (`faultsOfOrder`)
 * @throws Problem invalid_body with all its faults; then the first of `ORDER_CODES`
 */
export function judgeOrder(
  order: Order,
  scene: OrderScene,
  { now, sepa, faults: known }: { now: Date; sepa: ReadonlySet<string>; faults: readonly BodyFault[] },
): JudgedOrder {
  const currency = scene.trade?.buy_currency ?? scene.funds?.currency;
  const faults = [...known, ...(scene.booking ? bookingFaults(scene.booking, order) : [])];
  const dated = currency === undefined ? [] : datePayments(order, scene, { currency, now, sepa, faults });
  if (currency === undefined) faults.push(...distantDays(order, now, faults));
  if (faults.length > 0) throw refusedBody(sorted(faults));
  if (scene.booking) requireBookingParts(scene.booking, order);
  if (order.trade_id !== undefined && !scene.trade) throw notOfClient('trade_not_found', 'trade_id');
  if (currency === undefined) throw notOfClient('currency_account_not_found', 'funding_account_id');
  refuse(order, ({ beneficiary_id: id, account_id: account }) => {
    const payee = scene.payees.get(id);
    if (!payee) return notOfClient('beneficiary_not_found', 'beneficiary_id');
    if (account === undefined || account === payee.account_id) return undefined;
    return new Problem('bank_account_not_found', { field: 'account_id', message: 'is not of this beneficiary' });
  });
  const payments = dated as JudgedPayment[];
  if (scene.booking) judgeBooking(scene.booking, now);
  if (scene.trade) requireOpen(scene.trade);
  refuse(order, (_, index) => payeeFault(payments[index]?.payee as OrderedPayee, currency));
  if (!isAllowed(scene.settings.pricing, currency, 'pay_allowed'))
    throw new Problem('currency_not_allowed', `the client may not pay ${currency}`);
  requireMoney(scene, currency, payments);
  return { currency, payments };
}

/** @throws Problem the first refusal, with all payments that have it */
function refuse(
  { payments }: Order,
  faultOf: (payment: Order['payments'][number], index: number) => Problem | undefined,
): void {
  const refused = new Map<number, Problem>();
  for (const [index, payment] of payments.entries()) {
    const problem = faultOf(payment, index);
    if (problem) refused.set(index, problem);
  }
  if (refused.size > 0) throw refusedElements('payments', refused, ORDER_CODES);
}

/** Determines the amount, scheme and day of each payment. Adds to the faults what is wrong with them. */
function datePayments(
  order: Order,
  { settings, trade, payees }: OrderScene,
  {
    currency: code,
    now,
    sepa,
    faults,
  }: { currency: string; now: Date; sepa: ReadonlySet<string>; faults: BodyFault[] },
): (Omit<JudgedPayment, 'payee'> & { payee: OrderedPayee | undefined })[] {
  const currency = settings.currency(code);
  return order.payments.map((wanted, index) => {
    const payee = payees.get(wanted.beneficiary_id);
    const amount = String(wanted.amount);
    const tooLong = amountFault(index, amount, currency);
    if (tooLong) faults.push(tooLong);
    const country = payee && bankCountry(payee);
    const rule = schemeRuleFor(settings.schemes, { payment_currency: code, amount, country }, sepa);
    const field = `payments[${index}].payment_date`;
    // The field has been reported already, because it is not a day.
    if (faults.some((fault) => fault.field === field))
      return { payee, amount, scheme: rule.scheme, date: '', warning: null };
    try {
      const asked = { asked: wanted.payment_date, currency, rule, maturity: trade?.maturity_date ?? null, now };
      return { payee, amount, scheme: rule.scheme, ...paymentDate(asked) };
    } catch (error) {
      faults.push(dayFault(index, refusalOf(error).fault?.message ?? ''));
      return { payee, amount, scheme: rule.scheme, date: '', warning: null };
    }
  });
}

/** The faults of days that are too far away in whatever currency. */
function distantDays({ payments }: Order, now: Date, known: readonly BodyFault[]): BodyFault[] {
  return payments.flatMap(({ payment_date: day }, index) => {
    // A fault of the day that is known says that it is no day.
    if (known.some(({ field }) => field === `payments[${index}].payment_date`)) return [];
    const refusal = attempt(() => requireNear(day, now));
    return refusal instanceof Problem ? [dayFault(index, refusal.fault?.message ?? '')] : [];
  });
}

const ENDED = ['Closed', 'Cancelled', 'Rejected'];
const NOT_PAID_FROM = ['window_forward', 'ndf'];

/** Requires that payments may be ordered from a trade. @throws Problem transition_not_allowed, trade_not_open */
export function requireOpen({ single, status, trade_type: type }: LockedTrade): void {
  if (single) throw ofOnePayment('trade_id');
  const refused = (message: string) => new Problem('trade_not_open', { field: 'trade_id', message });
  if (ENDED.includes(status)) throw refused(`the trade is "${status}"`);
  if (NOT_PAID_FROM.includes(type)) throw refused(`nothing is paid from a ${type} itself`);
}

function payeeFault({ account_blocked: blocked, currency: own }: OrderedPayee, currency: string): Problem | undefined {
  const field = 'beneficiary_id';
  if (blocked) return new Problem('beneficiary_blocked', { field, message: 'its account is blocked' });
  if (own === currency) return undefined;
  const message = `must be a payee in ${currency}, the currency of the payment`;
  return new Problem('currency_mismatch', { field, message });
}

/** @throws Problem trade_amount_exceeded, insufficient_funds */
function requireMoney({ trade, funds }: OrderScene, currency: string, payments: readonly JudgedPayment[]): void {
  const needed = payments.map(({ amount }) => amount).reduce(sum);
  const [code, available] = trade
    ? (['trade_amount_exceeded', left(trade.buy_amount, trade.allocated)] as const)
    : (['insufficient_funds', left(funds?.balance ?? '0', funds?.held ?? '0')] as const);
  if (new Big(available).gte(needed)) return;
  throw new Problem(code, `available: ${available}, needed: ${needed}, currency: ${currency}`);
}

/** The rest of an amount, with the larger number of decimals of the two. */
export function left(amount: string, taken: string): string {
  return new Big(amount).minus(taken).toFixed(Math.max(decimalsOf(amount), decimalsOf(taken)));
}

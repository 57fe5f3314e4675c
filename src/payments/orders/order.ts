import { isCalendarDay } from '../../values/calendar.ts';
import type { BodyFault } from '../../values/errors.ts';
import { decimalsOf } from '../../values/money.ts';
import type { REASONS } from '../../values/reasons.ts';
import { fieldsOf, listOf } from '../../values/unknown.ts';

/** What a client orders to be paid: one or more payments from one trade or one account. The schema has checked the types of its fields. */

/** The most payments of one order. */
export const MAX_ORDERED_PAYMENTS = 50;

export interface OrderedPaymentInput {
  beneficiary_id: string;
  account_id?: number;
  /** A decimal, or a number that prints as it was written. It is above 0 and has no exponent. */
  amount: number | string;
  payment_date: string;
  reference: string;
  charges?: 'SHA' | 'OUR';
  purpose_of_payment?: string;
  email_beneficiary?: boolean;
}

export interface OrderInput {
  trade_id?: string;
  funding_account_id?: number;
  quote_id?: string;
  reason?: (typeof REASONS)[number];
  payments: OrderedPaymentInput[];
}

/** The contact who orders, and its client. */
export interface Orderer {
  clientId: string;
  contactId: string;
}

/** An order, with the contact who orders. */
export type Order = Orderer & OrderInput;

const ONE_SOURCE = 'must not be given beside trade_id';

/** The faults of an order that do not depend on the client's data and that the schema cannot find. @param order the body as it was sent */
export function faultsOfOrder(order: Readonly<Record<string, unknown>>): BodyFault[] {
  const { trade_id: trade, funding_account_id: account, quote_id: quote, reason, payments } = order;
  const faults: BodyFault[] = [];
  if (trade === undefined && account === undefined)
    faults.push(
      quote === undefined
        ? { field: 'trade_id', code: 'required', message: 'is required, or funding_account_id' }
        : { field: 'funding_account_id', code: 'required', message: 'is required with quote_id' },
    );
  if (trade !== undefined && account !== undefined)
    faults.push({ field: 'funding_account_id', code: 'invalid_format', message: ONE_SOURCE });
  if (trade !== undefined && quote !== undefined)
    faults.push({ field: 'quote_id', code: 'invalid_format', message: ONE_SOURCE });
  if (account !== undefined && reason === undefined)
    faults.push({ field: 'reason', code: 'required', message: 'is required with funding_account_id' });
  for (const [index, payment] of listOf(payments).entries()) {
    const { payment_date: day } = fieldsOf(payment);
    if (typeof day === 'string' && !isCalendarDay(day))
      faults.push(dayFault(index, 'must be a calendar day as YYYY-MM-DD'));
  }
  return faults;
}

/** A fault in the day of a payment. @param message what it must be */
export function dayFault(index: number, message: string): BodyFault {
  return { field: `payments[${index}].payment_date`, code: 'invalid_format', message, index };
}

/** The fault of an amount that has more decimals than its currency. */
export function amountFault(
  index: number,
  amount: string,
  { currency, decimals }: { currency: string; decimals: number },
): BodyFault | undefined {
  if (decimalsOf(amount) <= decimals) return undefined;
  const message = `must have at most ${decimals} digits after the point, as ${currency} has`;
  return { field: `payments[${index}].amount`, code: 'invalid_format', message, index };
}

/** Sorts the faults of an order: those of the order itself first, then those of its elements, at most one for each field. */
export function sorted(faults: readonly BodyFault[]): BodyFault[] {
  const once = new Map(faults.toReversed().map((fault) => [fault.field, fault]));
  return [...once.values()].toReversed().toSorted((one, other) => (one.index ?? -1) - (other.index ?? -1));
}

import type { Act } from '../audit/act.ts';
import { noteRecord } from '../audit/change.ts';
import type { AuditEntry } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import { first, type Transaction, together } from '../database/database.ts';
import { londonDay } from '../values/calendar.ts';
import { type BodyFault, Problem } from '../values/errors.ts';
import { noQuote, oldestQuote } from './quote.ts';
import { QUOTE_COLUMNS, type QuoteRow, quoteRecord } from './quote-declaration.ts';
import type { NewTrade } from './trade-booking.ts';
import {
  type Named,
  readNamed,
  requireAccount,
  requireFitting,
  requireFunds,
  type TradeOrder,
  writeOrdered,
} from './trade-order.ts';

/** Books a quote. One transaction marks it as used, books its trade, and holds the sell amount. */

/** The contact, and the quote that is booked. */
export interface Booking {
  clientId: string;
  contactId: string;
  quoteId: string;
}

/** What a booking depends on. It is locked until the transaction ends. */
export interface BookingScene {
  quote: QuoteRow | undefined;
  named: Named;
  /** The identifier of the trade that will be booked. */
  tradeId: string;
}

/** Reads and locks what a booking depends on. */
export async function readBooking(
  tx: Transaction,
  now: Date,
  { clientId, quoteId }: Booking,
  order: Partial<TradeOrder>,
): Promise<BookingScene> {
  const [quotes, named, tradeId] = await together([
    tx.query<QuoteRow>({
      name: 'quote-lock',
      text: `select ${QUOTE_COLUMNS} from quotes where client_id = $1 and quote_id = $2 and created_at > $3 for no key update`,
      values: [clientId, quoteId, oldestQuote(now)],
    }),
    readNamed(tx, clientId, order),
    newId(tx, clientId, 'trade_id'),
  ]);
  return { quote: first(quotes), named, tradeId };
}

/** The faults of an order that show only in its quote. */
export function bookingFaults({ quote }: BookingScene, { reason }: Partial<TradeOrder>): BodyFault[] {
  if (!quote || quote.trade_type === 'spot' || reason !== SPOT_ONLY) return [];
  return [{ field: 'reason', code: 'invalid_format', message: `${SPOT_ONLY} is for a spot only` }];
}
/** A reason that only spot trades may have. */
export const SPOT_ONLY = 'not_related_to_goods_or_services';

/** Requires that the quote and the account of a booking exist. @throws Problem quote_not_found, currency_account_not_found */
export function requireBookingParts({ quote, named }: BookingScene, order: Partial<TradeOrder>): QuoteRow {
  if (!quote) return noQuote();
  requireAccount(order, named);
  return quote;
}

/** @throws Problem quote_used, quote_expired, already_exists, currency_mismatch, insufficient_funds */
export function judgeBooking({ quote = noQuote(), named }: BookingScene, now: Date): void {
  if (quote.trade_id !== null)
    throw new Problem('quote_used', { field: 'quote_id', message: 'was booked already; ask for another one' });
  if (quote.expires_at <= now)
    throw new Problem('quote_expired', { field: 'quote_id', message: 'has expired; ask for another one' });
  requireFitting(named, quote.sell_currency);
  requireFunds(named, quote.sell_amount);
}

/** Marks a judged quote as used, and books its trade. */
export async function writeBooking(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  { booking, scene, order }: { booking: Booking; scene: BookingScene; order: TradeOrder },
): ReturnType<typeof writeOrdered> {
  const { quote = noQuote(), named, tradeId } = scene;
  const used = { ...quote, trade_id: tradeId };
  tx.later({
    name: 'quote-use',
    text: 'update quotes set trade_id = $3 where client_id = $1 and quote_id = $2 and trade_id is null',
    values: [quote.client_id, quote.quote_id, tradeId],
  });
  const [before, after] = [quoteRecord(quote, act.now), quoteRecord(used, act.now)];
  const { quote_id: id, client_id: clientId } = quote;
  const trade = tradeOf(act, { booking, quote, order, tradeId });
  const use: AuditEntry = { action: 'update', entity: 'quote', entityId: id, clientId, before, after };
  const written = await writeOrdered(tx, act, apiUrl, { trade, funds: named.funds, audited: [use] });
  // The quote's row is locked, and nothing else ever changes it, so its text can be noted now.
  noteRecord(tx, 'quote', id, () => ({ text: JSON.stringify(after) }));
  return written;
}

function tradeOf(
  { now }: Act,
  { booking, quote, order, tradeId }: { booking: Booking; quote: QuoteRow; order: TradeOrder; tradeId: string },
): NewTrade {
  const { buy_currency, sell_currency } = quote;
  return {
    id: tradeId,
    input: {
      ...{ client_id: booking.clientId, contact_id: booking.contactId, buy_currency, sell_currency },
      ...{ rate: quote.rate, buy_amount: quote.buy_amount, reference: order.reference ?? null },
      ...{ fee_currency: sell_currency },
    },
    values: {
      ...{ type: quote.trade_type, rate: quote.rate, buyAmount: quote.buy_amount, sellAmount: quote.sell_amount },
      ...{ orderDate: londonDay(now), maturity: quote.maturity_date, feeAmount: '0' },
      symbol: `${sell_currency}${buy_currency}`,
    },
    ordered: {
      ...{ reason: order.reason, external_reference_id: order.external_reference_id ?? null },
      ...{ funding_account_id: order.funding_account_id ?? null, quote_id: quote.quote_id },
      value_date: quote.value_date,
    },
  };
}

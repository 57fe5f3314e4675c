import { type Static, Type } from 'typebox';
import { made, RecordKind, type Shown } from '../database/record.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { Exact } from '../values/json.ts';
import { MAX_RATE_DECIMALS } from '../values/money.ts';
import { rounded, withoutZeros } from '../values/ratio.ts';
import { ClientId, ExactNumber, Nullable } from '../values/schemas.ts';
import type { QuoteRequest, QuoteTerms } from './quote-terms.ts';

export const QUOTE_STATUSES = ['open', 'used', 'expired'] as const;
export type QuoteStatus = (typeof QUOTE_STATUSES)[number];
/** Days during which a quote can be read. */
export const QUOTE_DAYS = 90;

const text = (description: string, example: string) => made(Type.String({ description }), { example });
const orNull = (description: string, example: string | null = null) =>
  made(Nullable(Type.String({ description })), { example });
const number = (description: string, example: number) => made(ExactNumber(description), { example });
const moment = (description: string, example: string) =>
  made(Type.String({ format: 'date-time', description }), { example });
const RATE = 'Bought units for one sold';
const INVERSE = 'Sold units for one bought';
const PAIR = 'Pair, sold currency first';

/** A quote as it is stored, and in the form that the institution sees. */
export const QUOTE = new RecordKind({
  table: 'quotes',
  id: 'quote_id',
  fields: {
    quote_id: text('32 hexadecimal digits', '9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d'),
    client_id: made(ClientId, { example: 'CLI000001' }),
    contact_id: text('Contact who asked for it', 'CON000001'),
    status: made(Type.Enum([...QUOTE_STATUSES], { description: 'At the moment of the answer' }), { example: 'open' }),
    trade_id: orNull('The trade that was booked with it'),
    trade_type: made(Type.Enum(['spot', 'forward']), { example: 'spot' }),
    operation: made(Type.Enum(['buy', 'sell'], { description: 'Which side is fixed' }), { example: 'sell' }),
    quoted_rate: number(RATE, 1.179075),
    quoted_rate_symbol: text(PAIR, 'GBPEUR'),
    inverse_rate: number(INVERSE, 0.84812247),
    inverse_rate_symbol: text('Pair, bought currency first', 'EURGBP'),
    buy_amount: number('Amount that is bought', 11_790.75),
    buy_currency: text('Currency that is bought', 'EUR'),
    sell_amount: number('Amount that is sold', 10_000),
    sell_currency: text('Currency that is sold', 'GBP'),
    fee_amount: number('Fee', 0),
    fee_currency: text('Currency of the fee', 'GBP'),
    value_date: made(Type.String({ format: 'date', description: 'Day on which it settles' }), {
      example: '2026-07-03',
    }),
    warning: orNull('Why the value date is not the day that was asked for'),
    created_at: moment('When it was asked for', '2026-07-01T10:15:00+01:00'),
    expires_at: moment('From when on it cannot be booked', '2026-07-01T10:15:30+01:00'),
    mid: number('The rate before the spread', 1.185),
    spread_bps: made(Type.Integer({ description: 'Hundredths of a percent' }), { example: 50 }),
    rate_as_of: moment('When the table of rates applied', '2026-07-01T10:14:30+01:00'),
  },
});
/** A quote in the form that the institution sees. */
export type QuoteRecord = Shown<typeof QUOTE>;

const { properties: SHOWN } = Type.Object(QUOTE.shown);
/** The fields that an estimate and a quote share, in the order of the answer. */
const TERMS = [
  ...(['inverse_rate', 'inverse_rate_symbol', 'buy_amount', 'buy_currency', 'sell_amount', 'sell_currency'] as const),
  ...(['fee_amount', 'fee_currency', 'value_date', 'warning'] as const),
] as const;
const OF_QUOTE = ['quote_id', 'trade_type', 'operation', 'contact_id', 'created_at', 'expires_at'] as const;

/** The price of an exchange, without commitment. */
export const ESTIMATE = {
  quoted_rate: Type.Null(),
  quoted_rate_symbol: Type.Null(),
  estimated_rate: ExactNumber(RATE),
  estimated_rate_symbol: Type.String({ description: PAIR }),
  ...Type.Pick(Type.Object(SHOWN), [...TERMS]).properties,
};
/** A quote in the form that its client sees. */
export const CLIENT_QUOTE = {
  quoted_rate: ExactNumber(RATE),
  quoted_rate_symbol: Type.String({ description: PAIR }),
  estimated_rate: Type.Null(),
  estimated_rate_symbol: Type.Null(),
  ...Type.Pick(Type.Object(SHOWN), [...TERMS, ...OF_QUOTE]).properties,
  book_trade: Type.String({ format: 'uri', description: 'Where POST books it' }),
};
/** A client's quote, with what became of it. */
export const CLIENT_QUOTE_NOW = {
  ...CLIENT_QUOTE,
  ...Type.Pick(Type.Object(SHOWN), ['status', 'trade_id']).properties,
};
const ESTIMATE_SCHEMA = Type.Object(ESTIMATE);
const CLIENT_QUOTE_SCHEMA = Type.Object(CLIENT_QUOTE);
type Estimate = Static<typeof ESTIMATE_SCHEMA>;
type ClientQuote = Static<typeof CLIENT_QUOTE_SCHEMA>;

/** A quote as it is stored: decimals are texts. */
export interface QuoteRow {
  [column: string]: unknown;
  quote_id: string;
  client_id: string;
  contact_id: string;
  trade_id: string | null;
  trade_type: 'spot' | 'forward';
  operation: 'buy' | 'sell';
  rate: string;
  inverse_rate: string;
  buy_amount: string;
  buy_currency: string;
  sell_amount: string;
  sell_currency: string;
  value_date: string;
  maturity_date: Date;
  warning: string | null;
  created_at: Date;
  expires_at: Date;
  mid: string;
  spread_bps: number;
  rate_as_of: Date;
}

/** The columns of `QuoteRow`. */
export const QUOTE_COLUMNS = `quote_id, client_id, contact_id, trade_id, trade_type, operation, rate, inverse_rate, buy_amount, buy_currency,
  sell_amount, sell_currency, value_date, maturity_date, warning, created_at, expires_at, mid, spread_bps, rate_as_of`;

/** The columns of a quote that follow from its terms. */
export function storedTerms(request: QuoteRequest, terms: QuoteTerms) {
  return {
    ...{ trade_type: request.trade_type, operation: request.operation },
    ...{ buy_currency: request.buy_currency, sell_currency: request.sell_currency },
    ...{ rate: terms.rate, inverse_rate: terms.inverseRate },
    ...{ buy_amount: terms.buyAmount, sell_amount: terms.sellAmount },
    ...{ value_date: terms.valueDate.date, warning: terms.valueDate.warning, maturity_date: terms.maturity },
    mid: withoutZeros(rounded(terms.mid, MAX_RATE_DECIMALS, 'half-even')),
    ...{ spread_bps: terms.spreadBps, rate_as_of: terms.asOf },
  };
}

type Stored = ReturnType<typeof storedTerms>;

/** The fields of an exchange that estimates and quotes show. */
function shownTerms(row: Stored) {
  return {
    inverse_rate: new Exact(row.inverse_rate),
    inverse_rate_symbol: `${row.buy_currency}${row.sell_currency}`,
    ...{ buy_amount: new Exact(row.buy_amount), buy_currency: row.buy_currency },
    ...{ sell_amount: new Exact(row.sell_amount), sell_currency: row.sell_currency },
    ...{ fee_amount: new Exact('0'), fee_currency: row.sell_currency },
    ...{ value_date: row.value_date, warning: row.warning },
  };
}

/** An estimate in the form of an answer. */
export function estimateOf(row: Stored): Estimate {
  return {
    ...{ quoted_rate: null, quoted_rate_symbol: null },
    ...{ estimated_rate: new Exact(row.rate), estimated_rate_symbol: `${row.sell_currency}${row.buy_currency}` },
    ...shownTerms(row),
  };
}

/** A quote in the form that its client sees. @param apiUrl the public address of the client API */
export function clientQuote(row: QuoteRow, apiUrl: string): ClientQuote {
  const booking = new URLSearchParams({ client_id: row.client_id, quote_id: row.quote_id });
  return {
    ...{ quoted_rate: new Exact(row.rate), quoted_rate_symbol: `${row.sell_currency}${row.buy_currency}` },
    ...{ estimated_rate: null, estimated_rate_symbol: null },
    ...shownTerms(row),
    ...{ quote_id: row.quote_id, trade_type: row.trade_type, operation: row.operation, contact_id: row.contact_id },
    ...{ created_at: londonTimestamp(row.created_at), expires_at: londonTimestamp(row.expires_at) },
    book_trade: `${apiUrl}/trades?${booking}`,
  };
}

/** What became of a quote. */
export function quoteStatus({ trade_id: trade, expires_at: end }: QuoteRow, now: Date): QuoteStatus {
  if (trade !== null) return 'used';
  return end <= now ? 'expired' : 'open';
}

const FIELDS = QUOTE.names;

/** A quote in the form that the institution sees. */
export function quoteRecord(row: QuoteRow, now: Date): QuoteRecord {
  return QUOTE.show(FIELDS, {
    ...{ quote_id: row.quote_id, client_id: row.client_id, contact_id: row.contact_id },
    ...{ status: quoteStatus(row, now), trade_id: row.trade_id, trade_type: row.trade_type, operation: row.operation },
    ...{ quoted_rate: new Exact(row.rate), quoted_rate_symbol: `${row.sell_currency}${row.buy_currency}` },
    ...shownTerms(row),
    ...{ created_at: londonTimestamp(row.created_at), expires_at: londonTimestamp(row.expires_at) },
    ...{ mid: new Exact(row.mid), spread_bps: row.spread_bps, rate_as_of: londonTimestamp(row.rate_as_of) },
  });
}

import { Type } from 'typebox';
import { chosen, type Input, initially, made, optional, RecordKind, required, type Shown } from '../database/record.ts';
import { isCalendarDay, parseInstant } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { MAX_RATE_DECIMALS, plain } from '../values/money.ts';
import { ClientId, Currency, Day, Decimal, ExactNumber, Id, InstantOrDay, Nullable, Text } from '../values/schemas.ts';

export const TRADE_STATUSES = [
  'Created',
  'Funds In Partially',
  'Funds In Full',
  'Funds Out Partially Allocated',
  'Funds Out Full Allocated',
  'Closed',
  'Cancelled',
  'Rejected',
] as const;
export type TradeStatus = (typeof TRADE_STATUSES)[number];
export const TRADE_TYPES = ['spot', 'forward', 'window_forward', 'drawdown', 'ndf'] as const;

const text = (description: string) => Nullable(Type.String({ description }));
const currency = (description: string, example: string) =>
  required(Currency(description), { shown: Type.String({ description }), example });
const ofClient = (description: string, example: string | null = null) =>
  made(Nullable(Type.String({ description })), { example });
const WHOSE = 'Contact who booked it';
const RATE = 'Units of the bought currency for one unit of the sold one';

/** A trade: the fields that book one, and the fields that are shown (service interface, BookedTrade), in the order of the answer. */
export const TRADE = new RecordKind({
  table: 'trades',
  id: 'trade_id',
  fields: {
    trade_id: chosen(Id('Chosen by the core; default: a new one'), {
      shown: Type.String({ description: 'Unique identifier of the trade' }),
      example: 'TRD000001',
    }),
    parent_trade_id: optional(Id('For a drawdown only'), {
      shown: text('The trade that a drawdown draws on'),
      example: null,
    }),
    status: initially(Type.Enum([...TRADE_STATUSES]), 'Created', { example: 'Created' }),
    trade_type: initially(Type.Enum([...TRADE_TYPES]), undefined, { example: 'spot' }),
    rate_symbol: initially(Text('Pair, sold currency first', 16), undefined, {
      shown: Type.String({ description: 'Pair, sold currency first' }),
      example: 'GBPEUR',
    }),
    rate: required(Decimal(RATE, { positive: true, decimals: MAX_RATE_DECIMALS }), {
      form: plain,
      shown: ExactNumber(RATE),
      example: 1.17,
    }),
    buy_currency: currency('Currency that is bought', 'EUR'),
    sell_currency: currency('Currency that is sold', 'GBP'),
    buy_amount: required(Decimal('Amount that is bought', { positive: true }), {
      form: plain,
      shown: ExactNumber('Amount that is bought'),
      example: 1170,
    }),
    sell_amount: initially(Decimal('Amount that is sold; default: buy_amount / rate', { positive: true }), undefined, {
      form: plain,
      shown: ExactNumber('Amount that is sold'),
      example: 1000,
    }),
    fee_amount: optional(Decimal('Fee'), { form: plain, shown: Nullable(ExactNumber('Fee amount')), example: null }),
    fee_currency: optional(Currency(), { shown: text('Fee currency'), example: null }),
    order_date: initially(Day('Day of the order'), undefined, {
      shown: Type.String({ format: 'date', description: 'Day of the order' }),
      example: '2026-07-01',
    }),
    maturity_date: optional(InstantOrDay('Maturity; a day is midnight UTC'), {
      form: (at: string | Date) => (at instanceof Date ? at : parseMaturity(at)).getTime(),
      shown: Nullable(Type.String({ format: 'date-time', description: 'Maturity' })),
      example: '2026-07-03T00:00:00+01:00',
    }),
    reference: optional(Text('Reference'), { shown: text('Reference'), example: null }),
    synthetic: initially(Type.Boolean(), false, { example: false }),
    trade_receipt: made(Type.String({ format: 'uri', description: 'Location to download the trade receipt' }), {
      example: 'https://api.example.com/documents?type=tr&id=TRD000001&client_id=CLI000001',
    }),
    /** If the core does not send them, they are the beneficiaries of its payments. */
    beneficiaries: initially(
      Type.Array(Type.Unknown(), { maxItems: 1_000, description: 'Default: the beneficiaries of its payments' }),
      null,
      {
        normal: (list) => JSON.stringify(list),
        shown: Type.Array(Type.Unknown(), { description: 'The beneficiaries of its payments' }),
        example: ['BEN000001'],
      },
    ),
    client_id: required(ClientId, { shown: ClientId, example: 'CLI000001' }),
    contact_id: required(Type.String({ minLength: 1, description: WHOSE }), {
      shown: Type.String({ description: WHOSE }),
      example: 'CON000001',
    }),
    source: made(Type.Enum(['client', 'institution'], { description: 'Who ordered it' }), { example: 'institution' }),
    reason: ofClient('Why the client ordered it'),
    external_reference_id: ofClient("The client's own identifier of it"),
    funding_account_id: made(
      Nullable(Type.Integer({ description: 'The currency account that holds its sell amount' })),
      {
        example: null,
      },
    ),
    quote_id: ofClient('The quote that it was booked with'),
    value_date: ofClient('The day on which it settles'),
    mass_payment_id: ofClient('The mass payment that it was booked for'),
    hold_released: made(Type.Boolean({ description: 'What was held for it was released' }), { example: false }),
  },
});
export type TradeInput = Input<typeof TRADE>;
/** A trade in the form that the operator sees. */
export type TradeRecord = Shown<typeof TRADE>;
/** The properties of a body that books a trade. */
export const TRADE_FIELDS = TRADE.given(
  ...(['client_id', 'contact_id', 'buy_currency', 'sell_currency', 'buy_amount', 'rate'] as const),
);
/** Fields of a trade that only the institution sees: its client, and what was ordered. */
const OF_INSTITUTION = [
  ...(['client_id', 'contact_id', 'source', 'reason', 'external_reference_id', 'funding_account_id'] as const),
  ...(['quote_id', 'value_date', 'mass_payment_id', 'hold_released'] as const),
] as const;
/** The schema of a trade in events. */
export const BOOKED_TRADE = Type.Omit(Type.Object(TRADE.shown), [...OF_INSTITUTION]);
/** A trade in the form that events carry. */
export type BookedTrade = Omit<TradeRecord, (typeof OF_INSTITUTION)[number]>;
const BOOKED_NAMES = Object.keys(BOOKED_TRADE.properties) as (keyof BookedTrade)[];

/** A trade in the form that events carry. */
export function bookedTrade(trade: TradeRecord): BookedTrade {
  return TRADE.show(BOOKED_NAMES, trade);
}

/** A maturity in its stored form. A day means midnight UTC. @throws Problem invalid_body */
export function parseMaturity(text: string, inside = ''): Date {
  const instant = parseInstant(text) ?? (isCalendarDay(text) ? new Date(`${text}T00:00:00Z`) : undefined);
  if (!instant)
    throw new Problem('invalid_body', {
      field: `${inside}maturity_date`,
      message: 'must be a day or an ISO 8601 timestamp with an offset',
    });
  return instant;
}

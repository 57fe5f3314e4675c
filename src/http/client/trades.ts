import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { BANK_ACCOUNT } from '../../accounts/account-details.ts';
import type { Context } from '../../context.ts';
import { findClientTrade, readTradeFunds, searchTrades } from '../../exchange/client-trades.ts';
import {
  drawdownFaults,
  judgeDrawdown,
  readDrawdown,
  requireDrawdownParts,
  writeDrawdown,
} from '../../exchange/drawdown.ts';
import {
  bookingFaults,
  judgeBooking,
  readBooking,
  requireBookingParts,
  writeBooking,
} from '../../exchange/quote-booking.ts';
import { TRADE_STATUSES, TRADE_TYPES } from '../../exchange/trade-declaration.ts';
import { commaList, oneOf } from '../../values/comma-list.ts';
import { attempt, Problem } from '../../values/errors.ts';
import { decimal, MAX_AMOUNT_DECIMALS } from '../../values/money.ts';
import { REASONS } from '../../values/reasons.ts';
import { ClientId, CurrencyCode, Day, Nullable, Text, Uuid } from '../../values/schemas.ts';
import { Trade } from '../schemas/event-schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { JUDGED, OrderAmount, orderBody, refuseFaults } from '../schemas/order-body.ts';
import { locationHeader, sendList, sendValue } from '../schemas/reply.ts';
import {
  ClientQuery,
  errors,
  idPath,
  jsonAnswer,
  listAnswer,
  listParameter,
  listRequest,
  orderErrors,
  Paging,
  wordItem,
} from '../schemas/schemas.ts';
import { soundFields } from '../schemas/sound-fields.ts';
import { clientAddress } from './caller.ts';
import { answerChange } from './change.ts';

const Reason = Type.Enum([...REASONS], {
  description: 'Why; not_related_to_goods_or_services is for a spot only',
});
const ORDERED = {
  reference: Type.Optional(Text('Shown with the trade', 140)),
  external_reference_id: Type.Optional(
    Type.String({
      pattern: '^[ -~]{1,64}$',
      description: "The client's own identifier; no two of its trades have the same",
    }),
  ),
  funding_account_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Number of a currency account, which holds the sell amount until it is debited',
    }),
  ),
};
const TradeOrderBody = orderBody(
  {
    reason: Reason,
    ...ORDERED,
    trade_type: Type.Optional(Type.Unknown({ description: 'Taken and ignored: the quote says it' })),
  },
  { title: 'TradeOrder', examples: [{ reason: 'payment_for_goods', external_reference_id: 'PO-4711' }] },
);
const DrawdownBody = orderBody(
  {
    buy_amount: OrderAmount('Amount of the bought currency'),
    reason: Reason,
    value_date: Type.Optional(Day('Day on which it settles; default: as early as possible')),
    ...ORDERED,
  },
  { title: 'DrawdownOrder', examples: [{ buy_amount: 25_000, reason: 'payment_for_goods' }] },
);
const BankAccount = Type.Object(BANK_ACCOUNT.properties, {
  title: 'BankAccount',
  examples: [
    {
      ...{ account_number: '31926819', iban: 'GB29NWBK60161331926819', swift_code: 'NWBKGB2L' },
      ...{ bank_identifier: '601613', bank_identifier_type: 'GBDSC', bank_name: 'National Bank' },
      ...{ bank_address_line_1: '1 Bank Street', bank_address_line_2: null, bank_city: 'London', bank_post_code: null },
    },
  ],
});
const BookedAnswer = Type.Object(
  {
    trade_id: Type.String(),
    bank_account: Nullable(BankAccount),
    maturity_date: Type.String({ format: 'date-time', description: 'When the sell amount is due' }),
    reference_for_payment: Type.String({ description: 'By which the institution knows what is paid for' }),
  },
  {
    title: 'BookedTrade',
    examples: [
      {
        ...{ trade_id: 'TRD000001', bank_account: null, maturity_date: '2026-07-03T15:30:00+01:00' },
        reference_for_payment: 'TRD000001',
      },
    ],
  },
);
const LOCATION = locationHeader(
  'Where the trade can be read',
  'https://api.example.com/trades/TRD000001?client_id=CLI000001',
);
const MAY_TRADE = { permission: 'can_trade' as const };

const BOOK = operation('POST /trades', {
  ...JUDGED,
  config: MAY_TRADE,
  schema: {
    operationId: 'bookTrade',
    tags: ['trades'],
    summary: 'Book a quote',
    description:
      'Books an open quote, once: the trade has its rate, whatever has changed since. With a funding_account_id the sell amount is held ' +
      'there. Any contact of the client who has can_trade may book it.',
    querystring: Type.Object({
      client_id: ClientId,
      quote_id: Type.String({ minLength: 1, description: 'The quote' }),
    }),
    body: TradeOrderBody,
    response: {
      201: jsonAnswer('The trade, and where to pay in for it', BookedAnswer, LOCATION),
      ...orderErrors(
        ...([400, 403, 502, 'quote_not_found', 'currency_account_not_found', 'quote_used', 'quote_expired'] as const),
        ...(['already_exists', 'currency_mismatch', 'insufficient_funds'] as const),
      ),
    },
  },
});

const DRAW = operation('POST /trades/{trade_id}/drawdowns', {
  ...JUDGED,
  config: MAY_TRADE,
  schema: {
    operationId: 'drawDown',
    tags: ['trades'],
    summary: 'Draw down a window forward',
    description:
      'Takes a part of a window forward, at its rate. The sell amounts of its drawdowns add up to its own. Needs can_trade.',
    params: idPath('trade_id'),
    querystring: ClientQuery,
    body: DrawdownBody,
    response: {
      201: jsonAnswer('The drawdown, and where to pay in for it', BookedAnswer, LOCATION),
      ...orderErrors(
        ...([400, 403, 502, 'trade_not_found', 'currency_account_not_found', 'transition_not_allowed'] as const),
        ...(['trade_not_open', 'already_exists', 'currency_mismatch', 'trade_amount_exceeded'] as const),
        ...(['amount_out_of_range', 'insufficient_funds'] as const),
      ),
    },
  },
});

const LIST = operation('GET /trades', {
  schema: {
    operationId: 'listTrades',
    tags: ['trades'],
    summary: 'List trades',
    description: 'In the order of their booking. Trades are what notifications carry.',
    querystring: Type.Object({
      client_id: ClientId,
      trade_type: listParameter('Only of these types', wordItem(TRADE_TYPES), 'spot'),
      status: listParameter('Only with one of these statuses', wordItem(TRADE_STATUSES), 'Created'),
      parent_trade_id: Type.Optional(Type.String({ minLength: 1, description: 'Only drawdowns of this trade' })),
      buy_currency: Type.Optional(CurrencyCode('Only those that buy it')),
      external_reference_id: Type.Optional(Type.String({ minLength: 1, description: "The client's own identifier" })),
      mass_payment_id: Type.Optional(Uuid('Only those that were booked for it')),
      ...Paging,
    }),
    response: { 200: listAnswer('A page of trades', Trade), ...errors(400, 403, 404, 502) },
  },
});

const READ_ONE = operation('GET /trades/{trade_id}', {
  schema: {
    operationId: 'getTrade',
    tags: ['trades'],
    summary: 'Read a trade',
    params: idPath('trade_id'),
    querystring: ClientQuery,
    response: { 200: jsonAnswer('The trade', Trade), ...errors(400, 403, 502, 'trade_not_found') },
  },
});

const amount = (description: string) => Type.String({ description: `${description}, a decimal` });
const TradeFunds = Type.Object(
  {
    trade_id: Type.String(),
    status: Type.Enum([...TRADE_STATUSES]),
    buy_currency: Type.String(),
    buy_amount: amount('What is bought'),
    allocated_amount: amount('What its live payments and drawdowns take'),
    unallocated_amount: amount('What is left; it may be below 0'),
    sell_currency: Type.String(),
    sell_amount: amount('What is sold'),
    held_amount: amount('What is held for it in its funding account'),
  },
  {
    title: 'TradeFunds',
    examples: [
      {
        ...{ trade_id: 'TRD000001', status: 'Created', buy_currency: 'EUR', buy_amount: '11790.75' },
        ...{ allocated_amount: '250.50', unallocated_amount: '11540.25', sell_currency: 'GBP' },
        ...{ sell_amount: '10000', held_amount: '10000' },
      },
    ],
  },
);
const READ_FUNDS = operation('GET /trades/{trade_id}/funds', {
  schema: {
    operationId: 'getTradeFunds',
    tags: ['trades'],
    summary: 'Tell what is left of a trade',
    params: idPath('trade_id'),
    querystring: ClientQuery,
    response: { 200: jsonAnswer('What is left', TradeFunds), ...errors(400, 403, 502, 'trade_not_found') },
  },
});

/** Trades that clients book, draw down and read (docs/exchange.md). */
export function clientTradeRoutes(app: FastifyInstance, context: Context): void {
  const { pool, addresses } = context;

  serve(app, BOOK, (request, reply) => {
    const given = soundFields(request);
    const { clientId, contactId } = request.caller;
    const booking = { clientId, contactId, quoteId: request.query.quote_id };
    return answerChange(context, request, reply, async (tx, act) => {
      const scene = await readBooking(tx, act.now, booking, given);
      refuseFaults(request, bookingFaults(scene, given));
      requireBookingParts(scene, given);
      judgeBooking(scene, act.now);
      const { answer } = await writeBooking(tx, act, addresses.api, { booking, scene, order: request.body });
      const headers = { location: clientAddress(context, request, `/trades/${answer.trade_id}`) };
      return { status: 201, body: JSON.stringify(answer), headers };
    });
  });

  serve(app, DRAW, (request, reply) => {
    const { buy_amount: digits, ...others } = soundFields(request);
    const { clientId, contactId } = request.caller;
    const drawing = { clientId, contactId, parentId: request.params.trade_id };
    const read = attempt(() => decimal(digits ?? 1, 'buy_amount', { decimals: MAX_AMOUNT_DECIMALS }));
    const given = { ...others, ...(digits !== undefined && typeof read === 'string' && { buy_amount: read }) };
    return answerChange(context, request, reply, async (tx, act) => {
      const scene = await readDrawdown(tx, drawing, given);
      const { faults, dated } = drawdownFaults(scene, given, act.now);
      const unread = read instanceof Problem && read.fault ? [{ ...read.fault, code: 'invalid_format' as const }] : [];
      refuseFaults(request, [...unread, ...faults]);
      requireDrawdownParts(scene, given);
      const order = { ...request.body, buy_amount: String(read) };
      const sell = judgeDrawdown(scene, order.buy_amount);
      if (!dated) throw new TypeError('the drawdown has no value date');
      const { answer } = await writeDrawdown(tx, act, addresses.api, { drawing, scene, order, dated, sell });
      const headers = { location: clientAddress(context, request, `/trades/${answer.trade_id}`) };
      return { status: 201, body: JSON.stringify(answer), headers };
    });
  });

  serve(app, LIST, async ({ caller, query }, reply) => {
    const filters = {
      types: commaList(query.trade_type, 'trade_type', oneOf(TRADE_TYPES)),
      statuses: commaList(query.status, 'status', oneOf(TRADE_STATUSES)),
      parentId: query.parent_trade_id,
      buyCurrency: query.buy_currency,
      externalReferenceId: query.external_reference_id,
      massPaymentId: query.mass_payment_id,
    };
    const page = { ...listRequest(query), clientId: caller.clientId };
    return sendList(reply, await searchTrades(pool, addresses.api, filters, page));
  });

  serve(app, READ_ONE, async ({ caller: { clientId }, params }, reply) =>
    sendValue(reply, await findClientTrade(pool, addresses.api, { clientId, tradeId: params.trade_id })),
  );

  serve(app, READ_FUNDS, ({ caller: { clientId }, params }) =>
    readTradeFunds(pool, { clientId, tradeId: params.trade_id }),
  );
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { findTrade, listTrades, TRADE_STATUSES, TRADE_TYPES } from '../../exchange/trade.ts';
import { createTrade, setTradeStatus } from '../../exchange/trade-booking.ts';
import { MAX_RATE_DECIMALS } from '../../values/money.ts';
import { ClientId, Currency, closed, Day, Decimal, Id, InstantOrDay, Nullable, Text } from '../../values/schemas.ts';
import { TRADE_EXAMPLE, Trade } from '../schemas/event-schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList, sendValue } from '../schemas/reply.ts';
import { ClientPageQuery, errors, idPath, jsonAnswer, listAnswer, listRequest } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const flag = Type.Optional(Type.Boolean());

export const TradeFields = {
  client_id: ClientId,
  contact_id: Type.String({ minLength: 1, description: 'Contact who booked it' }),
  buy_currency: Currency('Currency that is bought'),
  sell_currency: Currency('Currency that is sold'),
  buy_amount: Decimal('Amount that is bought', { positive: true }),
  rate: Decimal('Units of the bought currency for one unit of the sold one', {
    positive: true,
    decimals: MAX_RATE_DECIMALS,
  }),
  trade_id: Type.Optional(Id('Chosen by the core; default: a new one')),
  parent_trade_id: Type.Optional(Nullable(Id('For a drawdown only'))),
  status: Type.Optional(Type.Enum([...TRADE_STATUSES])),
  trade_type: Type.Optional(Type.Enum([...TRADE_TYPES])),
  rate_symbol: Type.Optional(Text('Pair, sold currency first', 16)),
  sell_amount: Type.Optional(Decimal('Amount that is sold; default: buy_amount / rate', { positive: true })),
  fee_amount: Type.Optional(Nullable(Decimal('Fee'))),
  fee_currency: Type.Optional(Nullable(Currency())),
  order_date: Type.Optional(Day('Day of the order')),
  maturity_date: Type.Optional(Nullable(InstantOrDay('Maturity; a day is midnight UTC'))),
  reference: Type.Optional(Nullable(Text('Reference'))),
  synthetic: flag,
  beneficiaries: Type.Optional(
    Type.Array(Type.Unknown(), { maxItems: 1_000, description: 'Default: the beneficiaries of its payments' }),
  ),
};
export const TradeBody = Type.Object(TradeFields, {
  ...closed,
  title: 'TradeInput',
  examples: [
    {
      client_id: 'CLI000001',
      contact_id: 'CON000001',
      buy_currency: 'EUR',
      sell_currency: 'GBP',
      buy_amount: 1170,
      rate: 1.17,
    },
  ],
});
const TradePatch = Type.Object(
  { status: Type.Enum([...TRADE_STATUSES]) },
  { ...closed, title: 'TradePatch', examples: [{ status: 'Funds In Full' }] },
);
/** A trade as the institution reads it. */
export const TradeRecord = Type.Object(
  { ...Trade.properties, client_id: ClientId, contact_id: Type.String({ description: 'Contact who booked it' }) },
  { title: 'Trade', examples: [{ ...TRADE_EXAMPLE, client_id: 'CLI000001', contact_id: 'CON000001' }] },
);

const TradeList = Type.Object({
  ...ClientPageQuery.properties,
  status: Type.Optional(Type.Enum([...TRADE_STATUSES], { description: 'Only trades with this status' })),
});

const CREATE = operation('POST /trades', {
  config: { ...FEED, location: '/trades/{trade_id}' },
  schema: {
    operationId: 'bookTrade',
    tags: ['trades'],
    summary: 'Book a trade',
    body: TradeBody,
    response: {
      201: jsonAnswer('The trade', TradeRecord),
      ...errors(400, 404, 409, 502, 'client_not_found', 'contact_not_found', 'trade_not_found', 'already_exists'),
    },
  },
});

const LIST = operation('GET /trades', {
  config: READ,
  schema: {
    operationId: 'listTrades',
    tags: ['trades'],
    summary: 'List trades',
    querystring: TradeList,
    response: { 200: listAnswer('A page of trades', TradeRecord), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /trades/{trade_id}', {
  config: READ,
  schema: {
    operationId: 'getTrade',
    tags: ['trades'],
    summary: 'Read a trade',
    params: idPath('trade_id'),
    response: { 200: jsonAnswer('The trade', TradeRecord), ...errors(404, 502, 'trade_not_found') },
  },
});

const CHANGE = operation('PATCH /trades/{trade_id}', {
  config: FEED,
  schema: {
    operationId: 'setTradeStatus',
    tags: ['trades'],
    summary: 'Set the status of a trade',
    params: idPath('trade_id'),
    body: TradePatch,
    response: { 200: jsonAnswer('The trade', TradeRecord), ...errors(400, 404, 502, 'trade_not_found') },
  },
});

/** Trades (docs/operator-interface.md). */
export function operatorTradeRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  serve(
    app,
    CREATE,
    change(context, 201, (tx, act, request) => createTrade(tx, act, context.addresses.api, request.body)),
  );
  serve(app, LIST, async ({ query }, reply) =>
    sendList(reply, await listTrades(pool, context.addresses.api, { ...listRequest(query), status: query.status })),
  );
  serve(app, READ_ONE, async (request, reply) =>
    sendValue(reply, await findTrade(pool, context.addresses.api, request.params.trade_id)),
  );
  serve(
    app,
    CHANGE,
    change(context, 200, (tx, act, request) =>
      setTradeStatus(tx, act, context.addresses.api, { tradeId: request.params.trade_id, status: request.body.status }),
    ),
  );
}

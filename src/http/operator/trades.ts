import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { findTrade, listTrades } from '../../exchange/trade.ts';
import { createTrade } from '../../exchange/trade-booking.ts';
import { TRADE, TRADE_FIELDS, TRADE_STATUSES } from '../../exchange/trade-declaration.ts';
import { setTradeStatus } from '../../exchange/trade-status.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList, sendValue } from '../schemas/reply.ts';
import { ClientPageQuery, errors, idPath, jsonAnswer, listAnswer, listRequest } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

export const TradeBody = Type.Object(TRADE_FIELDS, {
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
/** A trade in the form that the institution reads. */
export const TradeRecord = Type.Object(TRADE.shown, { title: 'Trade', examples: [TRADE.example] });

const TradeList = Type.Object({
  ...ClientPageQuery.properties,
  status: Type.Optional(Type.Enum([...TRADE_STATUSES], { description: 'Only trades with this status' })),
  source: Type.Optional(Type.Enum(['client', 'institution'], { description: 'Only trades that these have ordered' })),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By identifier; default asc' })),
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
    response: {
      200: jsonAnswer('The trade', TradeRecord),
      ...errors(400, 404, 409, 502, 'trade_not_found', 'transition_not_allowed'),
    },
  },
});

export type TradeOperations = typeof CREATE | typeof LIST | typeof READ_ONE | typeof CHANGE;

/** Trades (docs/operator-interface.md). */
export function operatorTradeRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  serve(
    app,
    CREATE,
    change(context, 201, (tx, act, request) => createTrade(tx, act, context.addresses.api, request.body)),
  );
  serve(app, LIST, async ({ query }, reply) =>
    sendList(
      reply,
      await listTrades(pool, context.addresses.api, {
        ...listRequest(query),
        status: query.status,
        source: query.source,
        order: query.order,
      }),
    ),
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

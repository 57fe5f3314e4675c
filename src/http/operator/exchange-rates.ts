import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { RATE_TABLE, readRates, setRates } from '../../exchange/exchange-rates.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendShortList } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer, ShortListQuery } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const RatesBody = Type.Object(RATE_TABLE.given(), {
  ...closed,
  title: 'RateTableInput',
  examples: [{ base_currency: 'GBP', rates: { USD: 1.25, EUR: 1.17 } }],
});
const RateTable = Type.Object(RATE_TABLE.shown, {
  title: 'RateTable',
  examples: [{ base_currency: 'GBP', rates: { EUR: 1.17, USD: 1.25 }, as_of: '2026-07-01T09:15:00.000Z' }],
});
const REPLACE = operation('PUT /exchange-rates', {
  config: FEED,
  schema: {
    operationId: 'replaceExchangeRates',
    tags: ['quotes'],
    summary: 'Replace the rates of a base currency',
    body: RatesBody,
    response: { 200: jsonAnswer('All tables', Type.Array(RateTable)), ...errors(400, 502) },
  },
});

const LIST = operation('GET /exchange-rates', {
  config: READ,
  schema: {
    operationId: 'listExchangeRates',
    tags: ['quotes'],
    summary: 'Read all rates',
    querystring: ShortListQuery,
    response: { 200: listAnswer('All tables', RateTable), ...errors(400, 502) },
  },
});

export type ExchangeRateOperations = typeof REPLACE | typeof LIST;

/** Exchange rates (docs/operator-interface.md). */
export function operatorExchangeRateRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    REPLACE,
    change(context, 200, (tx, act, request) => setRates(tx, act, request.body)),
  );
  serve(app, LIST, async ({ query }, reply) => sendShortList(reply, await readRates(context.pool), query));
}

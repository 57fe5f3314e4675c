import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { CURRENCY, CURRENCY_FIELDS, readCurrencies, readCurrency, setCurrency } from '../../exchange/currency.ts';
import { operation, serve } from '../schemas/operation.ts';
import { orderBody } from '../schemas/order-body.ts';
import { sendShortList } from '../schemas/reply.ts';
import { errors, idPath, jsonAnswer, listAnswer, orderErrors, ShortListQuery } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const CurrencyBody = orderBody(CURRENCY_FIELDS, {
  title: 'CurrencySettingsInput',
  examples: [{ cutoff_time: '15:30', holidays: [{ date: '2026-12-25', name: 'Christmas Day' }] }],
});
const CurrencySettings = Type.Object(CURRENCY.shown, { title: 'CurrencySettings', examples: [CURRENCY.example] });

const SET = operation('PUT /currencies/{currency}', {
  config: FEED,
  schema: {
    operationId: 'setCurrency',
    tags: ['quotes'],
    summary: 'Replace the settings of a currency',
    params: idPath('currency'),
    body: CurrencyBody,
    response: { 200: jsonAnswer('The settings', CurrencySettings), ...orderErrors(400, 502) },
  },
});

const READ_ONE = operation('GET /currencies/{currency}', {
  config: READ,
  schema: {
    operationId: 'getCurrency',
    tags: ['quotes'],
    summary: 'Read the settings of a currency, or the default ones',
    params: idPath('currency'),
    response: { 200: jsonAnswer('The settings', CurrencySettings), ...errors(400, 502) },
  },
});

const LIST = operation('GET /currencies', {
  config: READ,
  schema: {
    operationId: 'listCurrencies',
    tags: ['quotes'],
    summary: 'List the currencies that have settings',
    querystring: ShortListQuery,
    response: { 200: listAnswer('The settings', CurrencySettings), ...errors(400, 502) },
  },
});

export type CurrencyOperations = typeof SET | typeof READ_ONE | typeof LIST;

/** How currencies are settled and traded (docs/operator-interface.md). */
export function operatorCurrencyRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    SET,
    change(context, 200, (tx, act, { params, body }) => setCurrency(tx, act, params.currency, body)),
  );
  serve(app, READ_ONE, ({ params }) => readCurrency(context.pool, params.currency));
  serve(app, LIST, async ({ query }, reply) => sendShortList(reply, await readCurrencies(context.pool), query));
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { MAX_RATES, type RatesInput, readRates, setRates } from '../../quotes/exchange-rates.ts';
import { sendValue } from '../reply.ts';
import { Currency, closed, Decimal, errors, Instant } from '../schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const RatesBody = Type.Object(
  {
    base_currency: Currency('One unit of this currency ...'),
    rates: Type.Record(Type.String(), Decimal('... is worth this many'), {
      minProperties: 1,
      maxProperties: MAX_RATES,
    }),
    as_of: Type.Optional(Instant('When the rates applied')),
  },
  { ...closed, examples: [{ base_currency: 'GBP', rates: { USD: 1.25, EUR: 1.17 } }] },
);
const REPLACE = {
  config: FEED,
  schema: {
    operationId: 'replaceExchangeRates',
    tags: ['quotes'],
    summary: 'Replace the rates of a base currency',
    body: RatesBody,
    response: errors(400, 502),
  },
};

const LIST = {
  config: READ,
  schema: { operationId: 'listExchangeRates', tags: ['quotes'], summary: 'Read all rates', response: errors(502) },
};

/** Exchange rates (docs/operator-interface.md). */
export function operatorExchangeRateRoutes(app: FastifyInstance, context: Context): void {
  app.put<{ Body: RatesInput }>(
    '/exchange-rates',
    REPLACE,
    change(context, 200, (tx, act, request) => setRates(tx, act, request.body)),
  );
  app.get('/exchange-rates', LIST, async (_request, reply) => sendValue(reply, await readRates(context.pool)));
}

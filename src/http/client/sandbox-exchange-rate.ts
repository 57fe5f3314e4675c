import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { setPairRate } from '../../exchange/exchange-rates.ts';
import { Exact } from '../../values/json.ts';
import { decimal, MAX_RATE_DECIMALS } from '../../values/money.ts';
import { Currency, DecimalNumber } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { orderBody } from '../schemas/order-body.ts';
import { ClientQuery, jsonAnswer, orderErrors } from '../schemas/schemas.ts';
import { answerChange } from './change.ts';

const EXAMPLE = { sell_currency: 'GBP', buy_currency: 'EUR', rate: 1.185 };
const RATE = { positive: true, decimals: MAX_RATE_DECIMALS };
const PairRate = orderBody(
  {
    sell_currency: Currency('One unit of this currency ...'),
    buy_currency: Currency('... is worth so many of this one'),
    rate: DecimalNumber('Rate', RATE),
  },
  { title: 'SandboxExchangeRate', examples: [EXAMPLE] },
);
const SetRate = Type.Object(
  { sell_currency: Type.String(), buy_currency: Type.String(), rate: Type.Number() },
  { title: 'SandboxExchangeRateSet', examples: [EXAMPLE] },
);

const SET = operation('PUT /sandbox/exchange-rate', {
  schema: {
    operationId: 'setSandboxExchangeRate',
    tags: ['sandbox'],
    summary: 'Move a price',
    description:
      'Sets the rate of a pair for all clients, and takes the rate of the opposite pair away. A reset leaves it. Exists in the sandbox only.',
    querystring: ClientQuery,
    body: PairRate,
    response: { 200: jsonAnswer('The rate', SetRate), ...orderErrors(400, 403, 404, 502) },
  },
});

/** PUT /sandbox/exchange-rate (docs/sandbox.md). */
export function sandboxExchangeRateRoutes(app: FastifyInstance, context: Context): void {
  serve(app, SET, (request, reply) =>
    answerChange(context, request, reply, async (tx, act) => {
      const { sell_currency, buy_currency, rate: given } = request.body;
      const rate = decimal(given, 'rate', RATE);
      await setPairRate(tx, act, { sell_currency, buy_currency, rate });
      return { status: 200, body: JSON.stringify({ sell_currency, buy_currency, rate: new Exact(rate) }) };
    }),
  );
}

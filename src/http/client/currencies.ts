import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { CLIENT_CURRENCY, clientCurrencies } from '../../exchange/client-currencies.ts';
import { ClientId } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors, jsonAnswer } from '../schemas/schemas.ts';

const Currency = Type.Object(CLIENT_CURRENCY.properties, {
  title: 'Currency',
  examples: [
    {
      currency: 'EUR',
      available_for_trading: true,
      buy_allowed: true,
      sell_allowed: true,
      decimals: 2,
      cutoff: { day: 2, time: '15:30+01:00' },
      holidays: ['2026-12-25'],
      default: false,
    },
  ],
});

const LIST = operation('GET /currencies', {
  schema: {
    operationId: 'listCurrencies',
    tags: ['accounts'],
    summary: 'List the currencies in which the client can act',
    description: 'Those that the institution has set, that have a rate, or in which the client has an account.',
    querystring: Type.Object({
      client_id: ClientId,
      trade_type: Type.Optional(
        Type.Enum(['spot', 'forward'], { description: 'What is to be traded; the answer is the same for both' }),
      ),
    }),
    response: { 200: jsonAnswer('The currencies', Type.Array(Currency)), ...errors(400, 403, 404, 502) },
  },
});

/** The currencies of the calling client, with their cut-offs and holidays. */
export function currencyRoutes(app: FastifyInstance, { pool }: Context): void {
  serve(app, LIST, ({ caller, now }) => clientCurrencies(pool, caller.clientId, now));
}

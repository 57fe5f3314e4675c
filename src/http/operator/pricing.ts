import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { CLIENT_PRICING, findClientPricing, setClientPricing } from '../../exchange/client-pricing.ts';
import { PRICING, readPricing, setPricing } from '../../exchange/pricing.ts';
import { operation, serve } from '../schemas/operation.ts';
import { orderBody } from '../schemas/order-body.ts';
import { errors, idPath, jsonAnswer, orderErrors } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const EXAMPLE = {
  quote_seconds: 30,
  default_spread_bps: 50,
  rate_max_age_seconds: 300,
  spreads: [{ sell_currency: 'GBP', buy_currency: 'EUR', spread_bps: 40 }],
};
const PricingBody = orderBody(PRICING.given(), { title: 'PricingInput', examples: [EXAMPLE] });
const Pricing = Type.Object(PRICING.shown, { title: 'Pricing', examples: [EXAMPLE] });
const ClientPricingBody = orderBody(CLIENT_PRICING.given(), {
  title: 'ClientPricingInput',
  examples: [{ spread_bps: 30, currencies: [{ currency: 'EUR' }, { currency: 'GBP', pay_allowed: false }] }],
});
const ClientPricing = Type.Object(CLIENT_PRICING.shown, { title: 'ClientPricing', examples: [CLIENT_PRICING.example] });

const SET = operation('PUT /pricing', {
  config: FEED,
  schema: {
    operationId: 'setPricing',
    tags: ['quotes'],
    summary: 'Replace the pricing of all clients',
    body: PricingBody,
    response: { 200: jsonAnswer('The pricing', Pricing), ...orderErrors(400, 502) },
  },
});

const READ_ONE = operation('GET /pricing', {
  config: READ,
  schema: {
    operationId: 'getPricing',
    tags: ['quotes'],
    summary: 'Read the pricing of all clients',
    response: { 200: jsonAnswer('The pricing', Pricing), ...errors(502, 'invalid_parameter') },
  },
});

const SET_CLIENTS = operation('PUT /clients/{client_id}/pricing', {
  config: FEED,
  schema: {
    operationId: 'setClientPricing',
    tags: ['quotes'],
    summary: 'Replace the pricing of a client, and the currencies in which it may act',
    params: idPath('client_id'),
    body: ClientPricingBody,
    response: { 200: jsonAnswer('The pricing', ClientPricing), ...orderErrors(400, 404, 502, 'client_not_found') },
  },
});

const READ_CLIENTS = operation('GET /clients/{client_id}/pricing', {
  config: READ,
  schema: {
    operationId: 'getClientPricing',
    tags: ['quotes'],
    summary: 'Read the pricing of a client, and the currencies in which it may act',
    params: idPath('client_id'),
    response: { 200: jsonAnswer('The pricing', ClientPricing), ...errors(404, 502, 'client_not_found') },
  },
});

export type PricingOperations = typeof SET | typeof READ_ONE | typeof SET_CLIENTS | typeof READ_CLIENTS;

/** The prices of exchanges, and the currencies that clients may use (docs/operator-interface.md). */
export function operatorPricingRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  const { environment } = context.config;
  serve(
    app,
    SET,
    change(context, 200, (tx, act, { body }) => setPricing(tx, act, environment, body)),
  );
  serve(app, READ_ONE, () => readPricing(pool, environment));
  serve(
    app,
    SET_CLIENTS,
    change(context, 200, (tx, act, { params, body }) => setClientPricing(tx, act, params.client_id, body)),
  );
  serve(app, READ_CLIENTS, ({ params }) => findClientPricing(pool, params.client_id));
}

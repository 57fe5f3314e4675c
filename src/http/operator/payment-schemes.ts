import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { readSchemes, SCHEME_FIELDS, SHOWN_SCHEMES, setSchemes, shown } from '../../payments/scheme-settings.ts';
import { operation, serve } from '../schemas/operation.ts';
import { orderBody } from '../schemas/order-body.ts';
import { errors, jsonAnswer, orderErrors } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const SchemesBody = orderBody(SCHEME_FIELDS, {
  title: 'PaymentSchemesInput',
  examples: [{ rules: [{ payment_currency: 'EUR', bank_country: 'SEPA', scheme: 'SEPA', cutoff_time: '14:00' }] }],
});
const Schemes = Type.Object(SHOWN_SCHEMES.properties, {
  title: 'PaymentSchemes',
  examples: [
    {
      rules: [
        {
          payment_currency: 'EUR',
          bank_country: 'SEPA',
          maximum: null,
          scheme: 'SEPA',
          cutoff_time: '14:00',
          cutoff_timezone: 'Europe/London',
          every_day: false,
        },
      ],
    },
  ],
});

const SET = operation('PUT /payment-schemes', {
  config: FEED,
  schema: {
    operationId: 'setPaymentSchemes',
    tags: ['payments'],
    summary: 'Replace the table from which the scheme of a payment is chosen',
    body: SchemesBody,
    response: { 200: jsonAnswer('The table', Schemes), ...orderErrors(400, 502) },
  },
});

const READ_ONE = operation('GET /payment-schemes', {
  config: READ,
  schema: {
    operationId: 'getPaymentSchemes',
    tags: ['payments'],
    summary: 'Read the table from which the scheme of a payment is chosen',
    response: { 200: jsonAnswer('The table', Schemes), ...errors(502, 'invalid_parameter') },
  },
});

export type PaymentSchemeOperations = typeof SET | typeof READ_ONE;

/** Which payments use which scheme (docs/operator-interface.md). */
export function operatorPaymentSchemeRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    SET,
    change(context, 200, (tx, act, { body }) => setSchemes(tx, act, body)),
  );
  serve(app, READ_ONE, async () => shown(await readSchemes(context.pool)));
}

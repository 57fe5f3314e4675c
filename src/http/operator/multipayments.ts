import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import type { Db } from '../../database/database.ts';
import { findTrade } from '../../exchange/trade.ts';
import { TRADE, TRADE_FIELDS } from '../../exchange/trade-declaration.ts';
import { findMultipayment, formattedId } from '../../orders/multipayment.ts';
import {
  createMultipayment,
  MAX_MULTIPAYMENT_PAYMENTS,
  MAX_MULTIPAYMENT_TRADES,
} from '../../orders/multipayment-creation.ts';
import { ORDERED_EXAMPLE, PAYMENT, PAYMENT_FIELDS } from '../../payments/declaration.ts';
import { paymentBodies } from '../../payments/payment.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { ClientId, closed, Uuid } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendJson } from '../schemas/reply.ts';
import { errors, jsonAnswer } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';
import { OperatorPayment } from './payments.ts';
import { TradeRecord } from './trades.ts';

const own = {
  client_id: Type.Optional(Type.String({ description: 'Default: that of the multi payment; it cannot differ' })),
  contact_id: Type.Optional(Type.String({ description: 'Default: that of the multi payment; it cannot differ' })),
};
const { trade_id: _tradeId, ...paymentFields } = PAYMENT_FIELDS;
const MultipaymentBody = Type.Object(
  {
    client_id: ClientId,
    contact_id: Type.String({ minLength: 1, description: 'Contact who initiates it' }),
    multipayment_unique_id: Type.Optional(Uuid('Chosen by the core; default: a new one')),
    trades: Type.Array(Type.Object({ ...TRADE_FIELDS, ...own }, closed), {
      minItems: 1,
      maxItems: MAX_MULTIPAYMENT_TRADES,
    }),
    payments: Type.Array(
      Type.Object(
        {
          ...paymentFields,
          ...own,
          trade: Type.Integer({
            minimum: 0,
            maximum: MAX_MULTIPAYMENT_TRADES - 1,
            description: 'Index into `trades`: the trade that funds it',
          }),
        },
        closed,
      ),
      { minItems: 1, maxItems: MAX_MULTIPAYMENT_PAYMENTS },
    ),
  },
  {
    ...closed,
    title: 'MultipaymentInput',
    examples: [
      {
        client_id: 'CLI000001',
        contact_id: 'CON000001',
        trades: [{ buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 300, rate: 1.17 }],
        payments: [
          { trade: 0, beneficiary_id: 'BEN000001', amount: 100, payment_currency: 'EUR', payment_date: '2026-07-03' },
          { trade: 0, beneficiary_id: 'BEN000002', amount: 200, payment_currency: 'EUR', payment_date: '2026-07-03' },
        ],
      },
    ],
  },
);

const Multipayment = Type.Object(
  {
    multipayment_id: Type.String({ description: 'Internal sequential identifier' }),
    multipayment: Type.String({ description: 'Formatted identifier' }),
    multipayment_unique_id: Type.String({ format: 'uuid' }),
    client_id: ClientId,
    contact_id: Type.String({ description: 'Contact who initiated it' }),
    status: Type.Enum(['created', 'rejected']),
    trades: Type.Array(TradeRecord, { description: 'In the order of the request' }),
    payments: Type.Array(OperatorPayment),
  },
  {
    title: 'Multipayment',
    examples: [
      {
        multipayment_id: '1',
        multipayment: 'MP000001',
        multipayment_unique_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
        client_id: 'CLI000001',
        contact_id: 'CON000001',
        status: 'created',
        trades: [TRADE.example],
        payments: [{ client_id: 'CLI000001', ...PAYMENT.example, ...ORDERED_EXAMPLE }],
      },
    ],
  },
);
const CREATE = operation('POST /multipayments', {
  config: { ...FEED, location: '/multipayments/{multipayment}' },
  schema: {
    operationId: 'createMultipayment',
    tags: ['multi payments'],
    summary: 'Create a multi payment',
    description: 'Books trades and creates the payments that they fund, all or nothing.',
    body: MultipaymentBody,
    response: {
      201: jsonAnswer('The multi payment', Multipayment),
      ...errors(
        400,
        404,
        409,
        502,
        'client_not_found',
        'contact_not_found',
        'beneficiary_not_found',
        'already_exists',
        'exchange_rate_missing',
      ),
    },
  },
});

const READ_ONE = operation('GET /multipayments/{multipayment_id}', {
  config: READ,
  schema: {
    operationId: 'getMultipayment',
    tags: ['multi payments'],
    summary: 'Read a multi payment',
    params: Type.Object({
      multipayment_id: Type.String({ description: 'The number, the formatted or the unique identifier' }),
    }),
    response: { 200: jsonAnswer('The multi payment', Multipayment), ...errors(404, 502, 'multipayment_not_found') },
  },
});

/** Multi payments (docs/operator-interface.md). */
export function operatorMultipaymentRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    CREATE,
    change(context, 201, async (tx, act, request) => {
      const id = await createMultipayment(tx, act, presentationOf(context), request.body);
      return shown(tx, context, { id: String(id), now: act.now });
    }),
  );
  serve(app, READ_ONE, async (request, reply) =>
    sendJson(reply, await shown(context.pool, context, { id: request.params.multipayment_id, now: request.now })),
  );
}

/** A multi payment with its trades and payments as JSON text. */
async function shown(db: Db, context: Context, { id, now }: { id: string; now: Date }): Promise<string> {
  const found = await findMultipayment(db, null, id);
  const trades: unknown[] = [];
  for (const tradeId of found.trade_ids) trades.push(await findTrade(db, context.addresses.api, tradeId));
  const view = { clientId: found.client_id, viewer: null, institution: true, now, ...presentationOf(context) };
  const payments = await paymentBodies(db, view, found.payments);
  const head = {
    multipayment_id: String(found.multipayment_id),
    multipayment: formattedId(found.multipayment_id),
    multipayment_unique_id: found.multipayment_unique_id,
    client_id: found.client_id,
    contact_id: found.contact_id,
    status: found.status,
    trades,
  };
  return `${JSON.stringify(head).slice(0, -1)},"payments":[${payments.join(',')}]}`;
}

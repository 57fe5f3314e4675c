import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import type { PaymentId } from '../../identifiers.ts';
import { noPayment, paymentBody } from '../../payments/payment.ts';
import { type PaymentView, presentationOf } from '../../payments/presentation.ts';
import { searchPayments } from '../../payments/search.ts';
import {
  AMOUNT_RANGES,
  MAX_INT32,
  ORDER_FIELDS,
  ORDERS,
  readSearch,
  type SearchQuery,
  STATUS_FILTERS,
} from '../../payments/search-parameters.ts';
import { Payment } from '../payment-schema.ts';
import { sendJson } from '../reply.ts';
import { ClientId, ClientQuery, errors, jsonAnswer, Paging, TOTAL_COUNT } from '../schemas.ts';

const list = (description: string, example: string) =>
  Type.Optional(Type.String({ 'x-list': true, description: `${description}, comma separated`, examples: [example] }));
const text = (description: string) => Type.Optional(Type.String({ description }));
const day = (description: string) =>
  Type.Optional(Type.String({ format: 'date', description: `${description}, included`, examples: ['2026-07-01'] }));

const Search = Type.Object({
  client_id: ClientId,
  payment_ids: list('One or several payment identifiers', 'PAY000001,PAY000002'),
  mass_payment_id: text('UUID of the related mass payment'),
  mass_payment_external_reference_id: text('External reference of the related mass payment'),
  payment_currency: list('One or several currencies', 'EUR,USD'),
  amount: Type.Optional(
    Type.Integer({ minimum: -MAX_INT32 - 1, maximum: MAX_INT32, description: 'Requires amount_range' }),
  ),
  amount_range: Type.Optional(
    Type.Enum([...AMOUNT_RANGES], { description: 'Requires amount; `over` and `below` exclude the amount itself' }),
  ),
  ...Paging,
  order: Type.Optional(Type.Enum([...ORDERS], { default: 'asc', description: 'Direction' })),
  order_by: Type.Optional(
    Type.Enum([...ORDER_FIELDS], {
      default: 'order_date',
      description:
        'order_date: when the payment was created; value_date: its payment date. Ties keep the order of insertion',
    }),
  ),
  reference: text('Exact payment reference'),
  trade_id: text('Trade that the payment is allocated to'),
  beneficiary_id: text('Beneficiary of the payment'),
  from_payment_date: day('First payment date'),
  to_payment_date: day('Last payment date'),
  from_created_date: day('First Europe/London day of creation'),
  to_created_date: day('Last Europe/London day of creation'),
  status: Type.Optional(
    Type.Enum([...STATUS_FILTERS], {
      description:
        'pending: not in a final state; authorised: approved, in progress, not yet complete; pending_your_approval and ' +
        'pending_others_approval: pending of authorization, and the requesting contact may, or may not, authorise it now',
    }),
  ),
});
const Path = Type.Object({ payment_id: Type.String({ description: 'Payment identifier' }) });

const SEARCH = {
  schema: {
    operationId: 'searchPayments',
    tags: ['payments'],
    summary: 'Search payments',
    description:
      "Searches the client's payments. Dates are Europe/London days; if a to-date is before its from-date, the list is empty.",
    querystring: Search,
    response: {
      200: jsonAnswer('A page of payments', Type.Array(Payment), TOTAL_COUNT),
      ...errors(400, 403, 404, 502),
    },
  },
};

const READ_ONE = {
  schema: {
    operationId: 'getPayment',
    tags: ['payments'],
    summary: 'Read a payment',
    params: Path,
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('The payment', Payment),
      ...errors(400, 403, 502, 'payment_not_found'),
    },
  },
};

/** GET /payments and GET /payments/{payment_id} (the service interface; docs/decisions.md, 2 and 4). */
export function paymentSearchRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  app.get<{ Querystring: Static<typeof Search> }>('/payments', SEARCH, async (request, reply) => {
    const search = readSearch(request.query as SearchQuery);
    const { total, body } = await searchPayments(pool, viewOf(request, context), search);
    reply.header('x-total-count', total);
    return sendJson(reply, body);
  });

  app.get<{ Params: Static<typeof Path> }>('/payments/:payment_id', READ_ONE, async (request, reply) => {
    const { payment_id: id } = request.params;
    const body = await paymentBody(pool, viewOf(request, context), id as PaymentId);
    return sendJson(reply, body ?? noPayment());
  });
}

/** The payments as the requesting contact sees them. */
function viewOf(request: FastifyRequest, context: Context): PaymentView {
  return {
    clientId: request.caller.clientId,
    viewer: request.caller.contactId,
    now: request.now,
    ...presentationOf(context),
  };
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { noPayment, paymentBody } from '../../payments/payment.ts';
import { type PaymentView, presentationOf } from '../../payments/presentation.ts';
import { searchPayments } from '../../payments/search/search.ts';
import { readSearch } from '../../payments/search/search-parameters.ts';
import { ClientId } from '../../values/schemas.ts';
import { Payment } from '../schemas/event-schemas.ts';
import { PaymentFilters } from '../schemas/payment-filters.ts';
import { PaymentPath } from '../schemas/payment-schema.ts';
import { sendJson } from '../schemas/reply.ts';
import { ClientQuery, errors, jsonAnswer, TOTAL_COUNT } from '../schemas/schemas.ts';

const Search = Type.Object({ client_id: ClientId, ...PaymentFilters });

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
    params: PaymentPath,
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('The payment', Payment),
      ...errors(400, 403, 502, 'payment_not_found'),
    },
  },
};

/** GET /payments and GET /payments/{payment_id} (service interface; docs/decisions.md, 2 and 4). */
export function paymentSearchRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  app.get<{ Querystring: Static<typeof Search> }>('/payments', SEARCH, async (request, reply) => {
    const search = readSearch(request.query);
    const { total, body } = await searchPayments(pool, viewOf(request, context), search);
    reply.header('x-total-count', total);
    return sendJson(reply, body);
  });

  app.get<{ Params: Static<typeof PaymentPath> }>('/payments/:payment_id', READ_ONE, async (request, reply) => {
    const { payment_id: id } = request.params;
    const body = await paymentBody(pool, viewOf(request, context), id);
    return sendJson(reply, body ?? noPayment());
  });
}

/** The requesting contact's view of payments. */
function viewOf(request: FastifyRequest, context: Context): PaymentView {
  return {
    clientId: request.caller.clientId,
    viewer: request.caller.contactId,
    now: request.now,
    ...presentationOf(context),
  };
}

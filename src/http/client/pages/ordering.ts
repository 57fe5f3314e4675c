import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { bankTable } from '../../../beneficiaries/bank-table.ts';
import { beneficiariesWith } from '../../../beneficiaries/client-search.ts';
import type { Context } from '../../../context.ts';
import { marketsOf } from '../../../exchange/fx-availability.ts';
import { reviewOrder } from '../../../payments/orders/review.ts';
import { presentationOf } from '../../../payments/presentation.ts';
import { paidBefore, payableDays, payeesByUse, paymentSources } from '../../../payments/views/payable.ts';
import { ClientId, CurrencyCode, closed, Day } from '../../../values/schemas.ts';
import { paymentId } from '../../schemas/payment-schema.ts';
import { sendList, sendValue } from '../../schemas/reply.ts';
import { ClientQuery, listRequest, type Page, Paging } from '../../schemas/schemas.ts';
import { triedChange } from '../change.ts';
import { ORDERING, OrderBody, readOrder } from '../payment-orders.ts';

const Sought = Type.Object({ q: Type.String({ maxLength: 140 }) }, closed);
const Paged = Type.Object({ client_id: ClientId, ...Paging });
const Path = Type.Object({ payment_id: paymentId({}) });
const Days = Type.Object({
  client_id: ClientId,
  beneficiary_id: Type.String({ minLength: 1, maxLength: 64 }),
  currency: CurrencyCode('Of the payment'),
  amount: Type.String({ maxLength: 64, pattern: '^[0-9]{1,15}(\\.[0-9]{1,12})?$' }),
  trade_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  not_before: Type.Optional(Day('When the exchange settles that it needs')),
});

/** What the form of a new payment needs besides the client API. */
export function orderingData(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  const sepa = new Set(bankTable(context.config.bankDetails).sepa);

  app.get('/app/data/payment-sources', { schema: { querystring: ClientQuery } }, async (request, reply) =>
    sendValue(reply, await paymentSources(pool, request.caller.clientId)),
  );

  app.get('/app/data/markets', { schema: { querystring: ClientQuery } }, async (request, reply) =>
    sendValue(reply, await marketsOf(pool, request.caller.clientId, request.now)),
  );

  // A POST, so that no address contains a name. It changes nothing.
  app.post<{ Body: Static<typeof Sought> }>(
    '/app/data/payees',
    { schema: { querystring: ClientQuery, body: Sought } },
    async (request, reply) => sendValue(reply, await payeesByUse(pool, request.caller.clientId, request.body.q.trim())),
  );

  app.post<{ Querystring: Static<typeof Paged> & Page; Body: Static<typeof Sought> }>(
    '/app/data/payees/search',
    { schema: { querystring: Paged, body: Sought } },
    async (request, reply) => {
      const wanted = { ...listRequest(request.query), clientId: request.caller.clientId };
      return sendList(reply, await beneficiariesWith(pool, request.body.q.trim(), wanted));
    },
  );

  app.get<{ Params: Static<typeof Path> }>(
    '/app/data/payments/:payment_id/again',
    { schema: { params: Path, querystring: ClientQuery } },
    async (request, reply) =>
      sendValue(reply, await paidBefore(pool, request.caller.clientId, request.params.payment_id)),
  );

  app.get<{ Querystring: Static<typeof Days> }>(
    '/app/data/payment-days',
    { schema: { querystring: Days } },
    async (request, reply) => {
      const {
        beneficiary_id: beneficiaryId,
        currency,
        amount,
        trade_id: tradeId,
        not_before: notBefore,
      } = request.query;
      const payable = { clientId: request.caller.clientId, beneficiaryId, currency, amount, tradeId, notBefore };
      return sendValue(reply, await payableDays(pool, payable, { now: request.now, sepa }));
    },
  );

  // The order is done and undone. Its answer shows what POST /payments would do at this moment.
  app.post(
    '/app/data/payment-review',
    { ...ORDERING, schema: { querystring: ClientQuery, body: OrderBody } },
    async (request, reply) => {
      const { order, faults } = readOrder(request);
      const options = { presentation: presentationOf(context), sepa, faults };
      return sendValue(reply, await triedChange(context, request, (tx, act) => reviewOrder(tx, act, order, options)));
    },
  );
}

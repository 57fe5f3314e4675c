import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../../context.ts';
import { listClientTrades } from '../../../exchange/trade.ts';
import { sendList } from '../../schemas/reply.ts';
import { ClientId, type Page, Paging } from '../../schemas/schemas.ts';

const Query = Type.Object({
  client_id: ClientId,
  ...Paging,
  trade_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
});

/** What the page of documents needs in addition to the client API: the trades that have receipts. */
export function tradesData(app: FastifyInstance, context: Context): void {
  app.get<{ Querystring: Static<typeof Query> & Page }>(
    '/app/data/trades',
    { schema: { querystring: Query } },
    async (request, reply) => {
      const { page, page_size: pageSize, trade_id: tradeId } = request.query;
      const { clientId } = request.caller;
      const wanted = { page, pageSize, clientId, tradeId };
      return sendList(reply, await listClientTrades(context.pool, context.addresses.api, wanted));
    },
  );
}

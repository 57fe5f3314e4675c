import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { bankAccountFor } from '../../../accounts/account-details.ts';
import type { Context } from '../../../context.ts';
import { listPageTrades, readTradeFunds } from '../../../exchange/client-trades.ts';
import { noTrade } from '../../../exchange/trade.ts';
import { TRADE_STATUSES } from '../../../exchange/trade-declaration.ts';
import { ClientId } from '../../../values/schemas.ts';
import { sendList, sendValue } from '../../schemas/reply.ts';
import { ClientQuery, listRequest, type Page, Paging } from '../../schemas/schemas.ts';

const TradeId = Type.String({ minLength: 1, maxLength: 64 });
const Path = Type.Object({ trade_id: TradeId });
const Query = Type.Object({
  client_id: ClientId,
  ...Paging,
  trade_id: Type.Optional(TradeId),
  status: Type.Optional(Type.Enum([...TRADE_STATUSES])),
});

/** What the pages of trades and documents need besides the client API: trades with what is left, and where to pay in for a trade. */
export function tradesData(app: FastifyInstance, { pool, addresses }: Context): void {
  app.get<{ Querystring: Static<typeof Query> & Page }>(
    '/app/data/trades',
    { schema: { querystring: Query } },
    async (request, reply) => {
      const { trade_id: tradeId, status } = request.query;
      const { clientId } = request.caller;
      const wanted = { tradeId, statuses: status && [status] };
      const page = { ...listRequest(request.query), clientId };
      return sendList(reply, await listPageTrades(pool, addresses.api, wanted, page));
    },
  );
  app.get<{ Params: Static<typeof Path> }>(
    '/app/data/trades/:trade_id',
    { schema: { params: Path, querystring: ClientQuery } },
    async (request, reply) => {
      const { clientId } = request.caller;
      const { trade_id: tradeId } = request.params;
      const one = { clientId, page: 1, pageSize: 1 };
      const [trade] = (await listPageTrades(pool, addresses.api, { tradeId }, one)).rows;
      if (!trade) return noTrade();
      const funds = await readTradeFunds(pool, { clientId, tradeId });
      const bankAccount = await bankAccountFor(pool, clientId, trade.sell_currency);
      return sendValue(reply, { trade, funds, bank_account: bankAccount });
    },
  );
}

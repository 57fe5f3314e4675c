import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { accountOverview, balanceHistory, balanceLines } from '../../../accounts/account-overview.ts';
import { listHolds } from '../../../accounts/hold.ts';
import { listTransactions } from '../../../accounts/transaction-list.ts';
import type { Context } from '../../../context.ts';
import { listProgress } from '../../../statements/progress.ts';
import { ClientId, CurrencyCode } from '../../../values/schemas.ts';
import { sendList, sendValue } from '../../schemas/reply.ts';
import { ClientQuery, listRequest, type Page, Paging, rowsOf } from '../../schemas/schemas.ts';

const Chart = Type.Object({ client_id: ClientId, currency: CurrencyCode('Of the chart') });
const CurrencyAccountId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Transactions = Type.Object({ client_id: ClientId, ...Paging, currency_account_id: CurrencyAccountId });
const Holds = Type.Object({ client_id: ClientId, ...Paging, currency_account_id: Type.Optional(CurrencyAccountId) });
const Statements = Type.Object({ client_id: ClientId, ...Paging });

/** What the pages of accounts need besides the client API: balances, transactions, holds, and the progress of statements. */
export function accountsData(app: FastifyInstance, { pool }: Context): void {
  app.get('/app/data/accounts', { schema: { querystring: ClientQuery } }, async (request, reply) =>
    sendValue(reply, await accountOverview(pool, request.caller.clientId)),
  );
  app.get('/app/data/balance-lines', { schema: { querystring: ClientQuery } }, async (request, reply) =>
    sendValue(reply, await balanceLines(pool, request.caller.clientId, request.now)),
  );
  app.get<{ Querystring: Static<typeof Chart> }>(
    '/app/data/balances',
    { schema: { querystring: Chart } },
    async (request, reply) =>
      sendValue(
        reply,
        await balanceHistory(pool, request.caller.clientId, { currency: request.query.currency, now: request.now }),
      ),
  );
  app.get<{ Querystring: Static<typeof Transactions> & Page }>(
    '/app/data/transactions',
    { schema: { querystring: Transactions } },
    async (request, reply) => {
      const { page, page_size: pageSize, currency_account_id: currencyAccountId } = request.query;
      const { clientId } = request.caller;
      return sendList(reply, await listTransactions(pool, { currencyAccountId }, { page, pageSize, clientId }));
    },
  );
  app.get<{ Querystring: Static<typeof Holds> & Page }>(
    '/app/data/holds',
    { schema: { querystring: Holds } },
    async (request, reply) => {
      const { currency_account_id: accountId } = request.query;
      const { clientId } = request.caller;
      const wanted = { ...listRequest(request.query), accountId, clientId, state: 'open' as const };
      return sendList(reply, await listHolds(pool, wanted));
    },
  );
  app.get<{ Querystring: Page }>(
    '/app/data/statements',
    { schema: { querystring: Statements } },
    async (request, reply) => sendList(reply, await listProgress(pool, request.caller.clientId, rowsOf(request.query))),
  );
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  CURRENCY_ACCOUNT,
  createCurrencyAccount,
  FUNDED_ACCOUNT,
  findCurrencyAccount,
  listCurrencyAccounts,
} from '../../accounts/currency-account.ts';
import type { Context } from '../../context.ts';
import type { Db } from '../../database/database.ts';
import { zerosOf } from '../../exchange/currency.ts';
import { plain, sum } from '../../values/money.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendShortList } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer, ShortListQuery } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const CurrencyAccountBody = Type.Object(CURRENCY_ACCOUNT.given('client_id'), {
  ...closed,
  title: 'CurrencyAccountInput',
  examples: [{ client_id: 'CLI000001', currency: 'EUR' }],
});
const { account_id, currency } = CURRENCY_ACCOUNT.shown;
const ListedCurrencyAccount = Type.Object(
  { account_id, currency },
  {
    title: 'ListedCurrencyAccount',
    examples: [{ account_id: 1, currency: 'EUR' }],
  },
);
const FundedAccount = Type.Object(FUNDED_ACCOUNT.shown, {
  title: 'FundedCurrencyAccount',
  examples: [
    {
      account_id: 1,
      currency: 'EUR',
      client_id: 'CLI000001',
      balance: '1500.00',
      held: '250.50',
      available: '1249.50',
    },
  ],
});

const OPEN = operation('POST /currency-accounts', {
  config: { ...FEED, location: '/currency-accounts/{account_id}' },
  schema: {
    operationId: 'openCurrencyAccount',
    tags: ['accounts'],
    summary: 'Open a currency account',
    body: CurrencyAccountBody,
    response: {
      201: jsonAnswer('The currency account', FundedAccount),
      ...errors(400, 404, 409, 502, 'client_not_found', 'already_exists'),
    },
  },
});

const LIST = operation('GET /currency-accounts', {
  config: READ,
  schema: {
    operationId: 'listCurrencyAccounts',
    tags: ['accounts'],
    summary: "List a client's currency accounts",
    querystring: Type.Object({ client_id: Type.String({ minLength: 1 }), ...ShortListQuery.properties }),
    response: { 200: listAnswer('The currency accounts', ListedCurrencyAccount), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /currency-accounts/{account_id}', {
  config: READ,
  schema: {
    tags: ['accounts'],
    operationId: 'getCurrencyAccount',
    summary: 'Read a currency account with its balance, and what orders hold of it',
    params: Type.Object({ account_id: Type.String({ description: 'Its number' }) }),
    response: {
      200: jsonAnswer('The account', FundedAccount),
      ...errors(403, 404, 502, 'currency_account_not_found'),
    },
  },
});

export type CurrencyAccountOperations = typeof OPEN | typeof LIST | typeof READ_ONE;

/** Currency accounts (docs/operator-interface.md). */
export function operatorCurrencyAccountRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    OPEN,
    change(context, 201, async (tx, act, { body: { client_id: clientId, currency } }) => {
      const account = await createCurrencyAccount(tx, act, { clientId, currency });
      const none = await nothingOf(tx, currency);
      return { ...account, held: none, available: none };
    }),
  );
  serve(app, READ_ONE, async ({ params }) => {
    const account = await findCurrencyAccount(context.pool, params.account_id);
    const zero = await nothingOf(context.pool, account.currency);
    return { ...account, held: sum(plain(account.held), zero), available: sum(plain(account.available), zero) };
  });
  serve(app, LIST, async ({ query }, reply) =>
    sendShortList(reply, await listCurrencyAccounts(context.pool, query.client_id), query),
  );
}

/** Zero with the decimals of a currency, which computed amounts have too. */
const nothingOf = async (db: Db, currency: string) => (await zerosOf(db, [currency])).get(currency) ?? '0';

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { createCurrencyAccount, findCurrencyAccount, listCurrencyAccounts } from '../../accounts/currency-account.ts';
import type { Context } from '../../context.ts';
import { ClientId, Currency, closed, errors, jsonAnswer } from '../schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const CurrencyAccountBody = Type.Object(
  { client_id: ClientId, currency: Currency() },
  { ...closed, title: 'CurrencyAccountInput', examples: [{ client_id: 'CLI000001', currency: 'EUR' }] },
);
const ClientQuery = Type.Object({ client_id: Type.String({ minLength: 1 }) });
const Numbered = { account_id: Type.Integer(), currency: Type.String() };
const ListedCurrencyAccount = Type.Object(Numbered, {
  title: 'ListedCurrencyAccount',
  examples: [{ account_id: 1, currency: 'EUR' }],
});
const CurrencyAccount = Type.Object(
  { ...Numbered, client_id: ClientId },
  { title: 'CurrencyAccount', examples: [{ account_id: 1, currency: 'EUR', client_id: 'CLI000001' }] },
);
const CurrencyAccountBalance = Type.Object(
  { ...Numbered, client_id: ClientId, balance: Type.String({ description: 'A decimal' }) },
  {
    title: 'CurrencyAccountBalance',
    examples: [{ account_id: 1, currency: 'EUR', client_id: 'CLI000001', balance: '1500.00' }],
  },
);

const OPEN = {
  config: { ...FEED, location: '/currency-accounts/{account_id}' },
  schema: {
    operationId: 'openCurrencyAccount',
    tags: ['accounts'],
    summary: 'Open a currency account',
    body: CurrencyAccountBody,
    response: {
      201: jsonAnswer('The currency account', CurrencyAccount),
      ...errors(400, 404, 409, 502, 'client_not_found', 'already_exists'),
    },
  },
};

const LIST = {
  config: READ,
  schema: {
    operationId: 'listCurrencyAccounts',
    tags: ['accounts'],
    summary: "List a client's currency accounts",
    querystring: ClientQuery,
    response: { 200: jsonAnswer('The currency accounts', Type.Array(ListedCurrencyAccount)), ...errors(400, 502) },
  },
};

const READ_ONE = {
  config: READ,
  schema: {
    tags: ['accounts'],
    operationId: 'getCurrencyAccount',
    summary: 'Read a currency account with its balance',
    params: Type.Object({ account_id: Type.String({ pattern: '^[0-9]{1,15}$', description: 'Its number' }) }),
    response: {
      200: jsonAnswer('The account', CurrencyAccountBalance),
      ...errors(400, 403, 404, 502, 'currency_account_not_found'),
    },
  },
};

/** Currency accounts (docs/operator-interface.md). */
export function operatorCurrencyAccountRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Body: Static<typeof CurrencyAccountBody> }>(
    '/currency-accounts',
    OPEN,
    change(context, 201, (tx, act, request) =>
      createCurrencyAccount(tx, act, { clientId: request.body.client_id, currency: request.body.currency }),
    ),
  );
  app.get<{ Params: { account_id: string } }>('/currency-accounts/:account_id', READ_ONE, (request) =>
    findCurrencyAccount(context.pool, Number(request.params.account_id)),
  );
  app.get<{ Querystring: { client_id: string } }>('/currency-accounts', LIST, (request) =>
    listCurrencyAccounts(context.pool, request.query.client_id),
  );
}

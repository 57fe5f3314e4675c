import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { chosenAccount } from '../../accounts/account-choice.ts';
import type { Context } from '../../context.ts';
import { BALANCE, BALANCE_TYPES, readBalances } from '../../exchange/balances.ts';
import { CURRENCIES, commaList, oneOf } from '../../values/comma-list.ts';
import { ClientId } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendValue } from '../schemas/reply.ts';
import { ClientQuery, CURRENCY_ITEM, errors, jsonAnswer, listParameter, wordItem } from '../schemas/schemas.ts';
import { ChosenAccountPath } from './accounts.ts';

const Balance = Type.Object(BALANCE.properties, {
  title: 'Balance',
  examples: [
    {
      account_id: '1',
      amount: { amount: 1250.5, currency: 'EUR' },
      credit_debit_indicator: 'Credit',
      datetime: '2026-07-01T10:15:00+01:00',
      type: 'Available',
    },
  ],
});

const LIST = operation('GET /balances', {
  schema: {
    operationId: 'listBalances',
    tags: ['accounts'],
    summary: 'Read the balances of the currency accounts',
    description: 'Three of each currency account, by currency.',
    querystring: Type.Object({
      client_id: ClientId,
      currencies: listParameter('Only of these currencies', CURRENCY_ITEM, 'EUR,GBP'),
      balance_types: listParameter('Only of these types', wordItem(BALANCE_TYPES), 'Available'),
    }),
    response: { 200: jsonAnswer('The balances', Type.Array(Balance)), ...errors(400, 403, 404, 502) },
  },
});

const READ_ONE = operation('GET /accounts/{account_id}/balances', {
  schema: {
    operationId: 'getBalances',
    tags: ['accounts'],
    summary: 'Read the balances of a currency account',
    params: ChosenAccountPath,
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('The balances', Type.Array(Balance)),
      ...errors(400, 403, 404, 502, 'currency_account_not_found'),
    },
  },
});

/** The balances of the calling client's currency accounts, what is available, and what its trades still need. */
export function balanceRoutes(app: FastifyInstance, { pool }: Context): void {
  serve(app, LIST, async ({ caller, query, now }, reply) => {
    const wanted = {
      currencies: commaList(query.currencies, 'currencies', CURRENCIES),
      types: commaList(query.balance_types, 'balance_types', oneOf(BALANCE_TYPES)),
    };
    return sendValue(reply, await readBalances(pool, caller.clientId, { ...wanted, now }));
  });
  serve(app, READ_ONE, async ({ caller: { clientId }, params, now }, reply) => {
    const { account_id: account } = await chosenAccount(pool, clientId, params.account_id);
    return sendValue(reply, await readBalances(pool, clientId, { account, now }));
  });
}

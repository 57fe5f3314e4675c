import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  ACCOUNT,
  ACCOUNT_STATUSES,
  ACCOUNT_SUBTYPES,
  ACCOUNT_TYPES,
  clientAccounts,
  findAccount,
} from '../../accounts/account.ts';
import { CURRENCY_ACCOUNT, listCurrencyAccounts } from '../../accounts/currency-account.ts';
import type { Context } from '../../context.ts';
import { fxAvailable } from '../../exchange/fx-availability.ts';
import { CURRENCIES, commaList } from '../../values/comma-list.ts';
import { ClientId, UuidOfRecord } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { ClientQuery, CURRENCY_ITEM, errors, jsonAnswer, listParameter } from '../schemas/schemas.ts';

const Account = Type.Object(
  {
    account_id: Type.String({ format: 'uuid', description: 'Account UUID' }),
    account_subtype: Type.String({ enum: [...ACCOUNT_SUBTYPES] }),
    account_type: Type.String({ enum: [...ACCOUNT_TYPES] }),
    currency: Type.String({ description: 'Currency of the account' }),
    status: Type.String({ enum: [...ACCOUNT_STATUSES] }),
    account_details: ACCOUNT.shown.account_details,
  },
  {
    title: 'Account',
    examples: [
      {
        account_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
        account_subtype: 'EMoney',
        account_type: 'Business',
        currency: 'EUR',
        status: 'Enabled',
        account_details: [
          {
            account_address: '',
            account_name: 'Acme Ltd',
            account_number: 'GB29NWBK60161331926819',
            account_number_type: 'IBAN',
            bank_identifier: 'NWBKGB2L',
            bank_identifier_type: 'SWBIC',
          },
        ],
      },
    ],
  },
);
const { account_id, currency } = CURRENCY_ACCOUNT.shown;
const CurrencyAccount = Type.Object(
  { account_id, currency },
  { title: 'CurrencyAccount', examples: [{ account_id: 1, currency: 'EUR' }] },
);
const FxAvailability = Type.Object(
  { fx_available: Type.Boolean({ description: 'True if FX markets are available now' }) },
  { title: 'FxAvailability', examples: [{ fx_available: true }] },
);

/** The currency account that an address names (account-choice.ts). */
export const ChosenAccountPath = Type.Object({
  account_id: Type.Union(
    [
      Type.String({ pattern: '^[1-9][0-9]*$', description: 'Number of the currency account' }),
      UuidOfRecord('UUID of an account, which stands for the currency account in its currency'),
    ],
    { examples: ['1'] },
  ),
});

const LIST = operation('GET /accounts', {
  schema: {
    operationId: 'listAccounts',
    tags: ['accounts'],
    summary: 'List the accounts, by currency',
    querystring: Type.Object({
      client_id: ClientId,
      currencies: listParameter('Only in these currencies', CURRENCY_ITEM, 'EUR,GBP'),
    }),
    response: { 200: jsonAnswer('The accounts', Type.Array(Account)), ...errors(400, 403, 404, 502) },
  },
});

const LIST_CURRENCY_ACCOUNTS = operation('GET /accounts/currency-accounts', {
  schema: {
    operationId: 'listCurrencyAccounts',
    tags: ['accounts'],
    summary: 'List the currency accounts',
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('The currency accounts', Type.Array(CurrencyAccount)),
      ...errors(400, 403, 404, 502),
    },
  },
});

const READ_ONE = operation('GET /accounts/{account_id}', {
  schema: {
    operationId: 'getAccount',
    tags: ['accounts'],
    summary: 'Read an account',
    params: Type.Object({
      account_id: UuidOfRecord('Account UUID', { examples: ['0f8fad5b-d9cb-469f-a165-70867728950e'] }),
    }),
    querystring: ClientQuery,
    response: { 200: jsonAnswer('The account', Account), ...errors(400, 403, 404, 502, 'account_not_found') },
  },
});

const READ_FX = operation('GET /quotes/fx-availability', {
  schema: {
    operationId: 'getFxAvailability',
    tags: ['quotes'],
    summary: 'Tell whether FX can be initiated now',
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('Whether FX can be initiated', FxAvailability),
      ...errors(400, 403, 404, 502, 'fx_not_enabled'),
    },
  },
});

/** Accounts, currency accounts and FX availability of the calling client (service interface). */
export function accountRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  serve(app, LIST, ({ caller, query }) =>
    clientAccounts(pool, caller.clientId, commaList(query.currencies, 'currencies', CURRENCIES)),
  );
  serve(app, LIST_CURRENCY_ACCOUNTS, (request) => listCurrencyAccounts(pool, request.caller.clientId));
  serve(app, READ_ONE, (request) => findAccount(pool, request.caller.clientId, request.params.account_id));
  serve(app, READ_FX, async (request) => ({
    fx_available: await fxAvailable(pool, request.caller.clientId, request.now),
  }));
}

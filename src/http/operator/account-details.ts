import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  ACCOUNT_DETAILS,
  createAccountDetails,
  findAccountDetails,
  listAccountDetails,
  updateAccountDetails,
} from '../../accounts/account-details.ts';
import type { Context } from '../../context.ts';
import { CurrencyCode } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { orderBody } from '../schemas/order-body.ts';
import { sendList } from '../schemas/reply.ts';
import {
  ClientPageQuery,
  errors,
  jsonAnswer,
  listAnswer,
  listRequest,
  orderErrors,
  uuidPath,
} from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const EXAMPLE = {
  client_id: 'CLI000001',
  currency: 'EUR',
  country: 'GB',
  financial_institution_name: 'National Bank',
  account_holder_name: 'Ashdown Ltd',
  domestic: { account_number: '31926819', bank_identifier: '601613', bank_identifier_type: 'GBDSC' },
  international: { account_number: 'GB29NWBK60161331926819', account_number_type: 'IBAN' },
};
const AccountDetailsBody = orderBody(ACCOUNT_DETAILS.given('currency', 'country'), {
  title: 'AccountDetailsInput',
  examples: [EXAMPLE],
});
const AccountDetailsPatch = orderBody(Type.Partial(Type.Object(ACCOUNT_DETAILS.changed)).properties, {
  title: 'AccountDetailsPatch',
  examples: [{ status: 'pending' }],
});
const AccountDetails = Type.Object(ACCOUNT_DETAILS.shown, {
  title: 'AccountDetails',
  examples: [ACCOUNT_DETAILS.example],
});
const Path = uuidPath('account_details_id', 'Account details');

const CREATE = operation('POST /account-details', {
  config: { ...FEED, location: '/account-details/{account_details_id}' },
  schema: {
    operationId: 'createAccountDetails',
    tags: ['accounts'],
    summary: 'Say where a client, or each of them, pays in',
    body: AccountDetailsBody,
    response: {
      201: jsonAnswer('The account details', AccountDetails),
      ...orderErrors(400, 404, 502, 'client_not_found', 'account_not_found'),
    },
  },
});

const LIST = operation('GET /account-details', {
  config: READ,
  schema: {
    operationId: 'listAccountDetails',
    tags: ['accounts'],
    summary: 'List where clients pay in',
    querystring: Type.Object({
      ...ClientPageQuery.properties,
      currency: Type.Optional(CurrencyCode('Only in this currency')),
    }),
    response: { 200: listAnswer('A page of account details', AccountDetails), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /account-details/{account_details_id}', {
  config: READ,
  schema: {
    operationId: 'getAccountDetails',
    tags: ['accounts'],
    summary: 'Read account details',
    params: Path,
    response: {
      200: jsonAnswer('The account details', AccountDetails),
      ...errors(404, 502, 'account_details_not_found'),
    },
  },
});

const CHANGE = operation('PATCH /account-details/{account_details_id}', {
  config: FEED,
  schema: {
    operationId: 'updateAccountDetails',
    tags: ['accounts'],
    summary: 'Change account details',
    params: Path,
    body: AccountDetailsPatch,
    response: {
      200: jsonAnswer('The account details', AccountDetails),
      ...orderErrors(400, 404, 502, 'account_details_not_found', 'account_not_found'),
    },
  },
});

export type AccountDetailsOperations = typeof CREATE | typeof LIST | typeof READ_ONE | typeof CHANGE;

/** Where clients pay in (docs/operator-interface.md). */
export function operatorAccountDetailsRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  serve(
    app,
    CREATE,
    change(context, 201, (tx, act, { body }) => createAccountDetails(tx, act, body)),
  );
  serve(app, LIST, async ({ query }, reply) =>
    sendList(reply, await listAccountDetails(pool, { ...listRequest(query), currency: query.currency })),
  );
  serve(app, READ_ONE, ({ params }) => findAccountDetails(pool, params.account_details_id));
  serve(
    app,
    CHANGE,
    change(context, 200, (tx, act, { params, body }) => updateAccountDetails(tx, act, params.account_details_id, body)),
  );
}

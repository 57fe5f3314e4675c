import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { ACCOUNT, createAccount, listAccounts, readAccount, updateAccount } from '../../accounts/account.ts';
import type { Context } from '../../context.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList } from '../schemas/reply.ts';
import { ClientPageQuery, errors, jsonAnswer, listAnswer, listRequest, uuidPath } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const AccountBody = Type.Object(ACCOUNT.given('client_id', 'currency', 'account_id', 'account_type'), {
  ...closed,
  title: 'AccountInput',
  examples: [
    {
      client_id: 'CLI000001',
      currency: 'EUR',
      account_details: [{ account_number: 'GB29NWBK60161331926819', account_number_type: 'IBAN' }],
    },
  ],
});
const AccountPatch = Type.Partial(Type.Object(ACCOUNT.changed), { ...closed, title: 'AccountPatch' });
const Account = Type.Object(ACCOUNT.shown, {
  title: 'Account',
  examples: [
    {
      account_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      account_subtype: 'EMoney',
      account_type: 'Business',
      currency: 'EUR',
      status: 'Enabled',
      account_details: [],
      client_id: 'CLI000001',
    },
  ],
});
const OPEN = operation('POST /accounts', {
  config: { ...FEED, location: '/accounts/{account_id}' },
  schema: {
    operationId: 'openAccount',
    tags: ['accounts'],
    summary: 'Open an account',
    body: AccountBody,
    response: {
      201: jsonAnswer('The account', Account),
      ...errors(400, 404, 409, 502, 'client_not_found', 'already_exists'),
    },
  },
});

const LIST = operation('GET /accounts', {
  config: READ,
  schema: {
    operationId: 'listAccounts',
    tags: ['accounts'],
    summary: 'List accounts',
    querystring: ClientPageQuery,
    response: { 200: listAnswer('A page of accounts', Account), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /accounts/{account_id}', {
  config: READ,
  schema: {
    operationId: 'getAccount',
    tags: ['accounts'],
    summary: 'Read an account',
    params: uuidPath('account_id', 'Account'),
    response: { 200: jsonAnswer('The account', Account), ...errors(400, 404, 502, 'account_not_found') },
  },
});

const CHANGE = operation('PATCH /accounts/{account_id}', {
  config: FEED,
  schema: {
    operationId: 'updateAccount',
    tags: ['accounts'],
    summary: 'Change an account',
    params: uuidPath('account_id', 'Account'),
    body: AccountPatch,
    response: {
      200: jsonAnswer('The account', Account),
      ...errors(400, 404, 409, 502, 'account_not_found', 'transition_not_allowed'),
    },
  },
});

export type AccountOperations = typeof OPEN | typeof LIST | typeof READ_ONE | typeof CHANGE;

/** Accounts (docs/operator-interface.md). */
export function operatorAccountRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  serve(
    app,
    OPEN,
    change(context, 201, (tx, act, request) => createAccount(tx, act, request.body)),
  );
  serve(app, LIST, async ({ query }, reply) => sendList(reply, await listAccounts(pool, listRequest(query))));
  serve(app, READ_ONE, (request) => readAccount(pool, request.params.account_id));
  serve(
    app,
    CHANGE,
    change(context, 200, (tx, act, request) => updateAccount(tx, act, request.params.account_id, request.body)),
  );
}

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import {
  ACCOUNT_STATUSES,
  ACCOUNT_SUBTYPES,
  ACCOUNT_TYPES,
  createAccount,
  listAccounts,
  MAX_ACCOUNT_DETAILS,
  readAccount,
  updateAccount,
} from '../../accounts/account.ts';
import type { Context } from '../../context.ts';
import { ClientId, Currency, closed, Nullable, PATTERNS, Text, Uuid } from '../../values/schemas.ts';
import { sendList } from '../schemas/reply.ts';
import {
  type ClientPage,
  ClientPageQuery,
  errors,
  jsonAnswer,
  listAnswer,
  listRequest,
  uuidPath,
} from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const text = (description: string) => Type.Optional(Nullable(Text(description)));

const Details = Type.Array(
  Type.Object(
    {
      account_address: text('Address of the account'),
      account_name: text('Name of the account'),
      account_number: text('IBAN or domestic number'),
      account_number_type: Type.Optional(Nullable(Type.Enum(['IBAN', 'BBAN']))),
      bank_identifier: text('BIC or clearing code'),
      bank_identifier_type: Type.Optional(
        Nullable(
          Type.String({
            pattern: PATTERNS.clearingSystem,
            description: 'SWBIC, or an ISO 20022 clearing system as GBDSC, USABA',
          }),
        ),
      ),
    },
    closed,
  ),
  { maxItems: MAX_ACCOUNT_DETAILS },
);
const AccountBody = Type.Object(
  {
    client_id: ClientId,
    currency: Currency(),
    account_id: Type.Optional(Uuid('Chosen by the core; default: a new one')),
    account_type: Type.Optional(Type.Enum([...ACCOUNT_TYPES])),
    account_subtype: Type.Optional(Type.Enum([...ACCOUNT_SUBTYPES])),
    status: Type.Optional(Type.Enum([...ACCOUNT_STATUSES])),
    account_details: Type.Optional(Details),
  },
  {
    ...closed,
    title: 'AccountInput',
    examples: [
      {
        client_id: 'CLI000001',
        currency: 'EUR',
        account_details: [{ account_number: 'GB29NWBK60161331926819', account_number_type: 'IBAN' }],
      },
    ],
  },
);
const AccountPatch = Type.Object(
  { status: Type.Optional(Type.Enum([...ACCOUNT_STATUSES])), account_details: Type.Optional(Details) },
  { ...closed, title: 'AccountPatch' },
);
const shownText = Type.String({ description: 'Empty where it was not given' });
const Account = Type.Object(
  {
    account_id: Type.String({ format: 'uuid' }),
    account_subtype: Type.Enum([...ACCOUNT_SUBTYPES]),
    account_type: Type.Enum([...ACCOUNT_TYPES]),
    currency: Type.String(),
    status: Type.Enum([...ACCOUNT_STATUSES]),
    account_details: Type.Array(
      Type.Object({
        account_address: shownText,
        account_name: shownText,
        account_number: shownText,
        account_number_type: shownText,
        bank_identifier: shownText,
        bank_identifier_type: shownText,
      }),
    ),
    client_id: ClientId,
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
        account_details: [],
        client_id: 'CLI000001',
      },
    ],
  },
);
const OPEN = {
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
};

const LIST = {
  config: READ,
  schema: {
    operationId: 'listAccounts',
    tags: ['accounts'],
    summary: 'List accounts',
    querystring: ClientPageQuery,
    response: { 200: listAnswer('A page of accounts', Account), ...errors(400, 502) },
  },
};

const READ_ONE = {
  config: READ,
  schema: {
    operationId: 'getAccount',
    tags: ['accounts'],
    summary: 'Read an account',
    params: uuidPath('account_id', 'Account'),
    response: { 200: jsonAnswer('The account', Account), ...errors(400, 404, 502, 'account_not_found') },
  },
};

const CHANGE = {
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
};

/** Accounts (docs/operator-interface.md). */
export function operatorAccountRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;
  app.post<{ Body: Static<typeof AccountBody> }>(
    '/accounts',
    OPEN,
    change(context, 201, (tx, act, request) => createAccount(tx, act, request.body)),
  );
  app.get<{ Querystring: ClientPage }>('/accounts', LIST, async ({ query }, reply) =>
    sendList(reply, await listAccounts(pool, listRequest(query))),
  );
  app.get<{ Params: { account_id: string } }>('/accounts/:account_id', READ_ONE, (request) =>
    readAccount(pool, request.params.account_id),
  );
  app.patch<{ Params: { account_id: string }; Body: Static<typeof AccountPatch> }>(
    '/accounts/:account_id',
    CHANGE,
    change(context, 200, (tx, act, request) => updateAccount(tx, act, request.params.account_id, request.body)),
  );
}

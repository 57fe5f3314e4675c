import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { chosenAccount } from '../../accounts/account-choice.ts';
import {
  CLIENT_TRANSACTION,
  type ClientTransactionFilter,
  findClientTransaction,
  listClientTransactions,
  TRANSACTION_TYPES,
  type TransactionType,
} from '../../accounts/client-transactions.ts';
import type { Context } from '../../context.ts';
import { CURRENCIES, commaList } from '../../values/comma-list.ts';
import { Problem } from '../../values/errors.ts';
import { ClientId } from '../../values/schemas.ts';
import { namesOf } from '../../values/unknown.ts';
import { TRANSACTION_EXAMPLE } from '../schemas/event-schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList } from '../schemas/reply.ts';
import {
  ClientQuery,
  CURRENCY_ITEM,
  errors,
  jsonAnswer,
  listAnswer,
  listRequest,
  Paging,
  requiredList,
} from '../schemas/schemas.ts';
import { ChosenAccountPath } from './accounts.ts';
import { A_DATE_TIME, DateTime, parseDateTime } from './date-time.ts';

const Transaction = Type.Object(CLIENT_TRANSACTION.properties, {
  title: 'ClientTransaction',
  examples: [
    { client_id: 'CLI000001', transaction_type: 'incoming', payment_id: null, trade_id: null, ...TRANSACTION_EXAMPLE },
  ],
});

const Filters = {
  credit_debit_indicator: Type.Optional(Type.Enum(['Credit', 'Debit'])),
  transaction_type: Type.Optional(Type.Enum(namesOf(TRANSACTION_TYPES))),
  from_value_datetime: Type.Optional(DateTime('First moment of the value date, included')),
  to_value_datetime: Type.Optional(DateTime('Last moment of the value date, excluded')),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { default: 'desc', description: 'By value date' })),
  ...Paging,
};
const OfAccount = Type.Object({ client_id: ClientId, ...Filters });
const AllAccounts = Type.Object({
  client_id: ClientId,
  currencies: requiredList('Of the accounts in these currencies', CURRENCY_ITEM, 'EUR,GBP'),
  ...Filters,
});

const LIST = operation('GET /transactions', {
  schema: {
    operationId: 'listTransactions',
    tags: ['accounts'],
    summary: 'List the transactions of the currency accounts, the newest value date first',
    querystring: AllAccounts,
    response: { 200: listAnswer('A page of transactions', Transaction), ...errors(400, 403, 404, 502) },
  },
});

const LIST_OF_ACCOUNT = operation('GET /accounts/{account_id}/transactions', {
  schema: {
    operationId: 'listAccountTransactions',
    tags: ['accounts'],
    summary: 'List the transactions of a currency account, the newest value date first',
    params: ChosenAccountPath,
    querystring: OfAccount,
    response: {
      200: listAnswer('A page of transactions', Transaction),
      ...errors(400, 403, 404, 502, 'currency_account_not_found'),
    },
  },
});

const READ_ONE = operation('GET /accounts/{account_id}/transactions/{transaction_id}', {
  schema: {
    operationId: 'getTransaction',
    tags: ['accounts'],
    summary: 'Read a transaction of a currency account',
    params: Type.Object({ ...ChosenAccountPath.properties, transaction_id: Type.String() }),
    querystring: ClientQuery,
    response: {
      200: jsonAnswer('The transaction', Transaction),
      ...errors(400, 403, 404, 502, 'currency_account_not_found', 'transaction_not_found'),
    },
  },
});

/** The transactions of the calling client's currency accounts. */
export function transactionRoutes(app: FastifyInstance, { pool }: Context): void {
  serve(app, LIST, async ({ caller: { clientId }, query }, reply) => {
    const chosen = commaList(query.currencies, 'currencies', CURRENCIES) ?? [];
    const wanted = { clientId, chosen, filter: filterOf(query) };
    return sendList(reply, await listClientTransactions(pool, wanted, listRequest(query)));
  });
  serve(app, LIST_OF_ACCOUNT, async ({ caller: { clientId }, params, query }, reply) => {
    const filter = filterOf(query);
    const { account_id: chosen } = await chosenAccount(pool, clientId, params.account_id);
    return sendList(reply, await listClientTransactions(pool, { clientId, chosen, filter }, listRequest(query)));
  });
  serve(app, READ_ONE, async ({ caller: { clientId }, params }) => {
    const { account_id: accountId } = await chosenAccount(pool, clientId, params.account_id);
    return findClientTransaction(pool, { clientId, accountId, id: params.transaction_id });
  });
}

/** @throws Problem invalid_parameter */
function filterOf(query: Static<typeof OfAccount>): ClientTransactionFilter {
  return {
    indicator: query.credit_debit_indicator as ClientTransactionFilter['indicator'],
    type: query.transaction_type as TransactionType | undefined,
    from: instant(query.from_value_datetime, 'from_value_datetime'),
    to: instant(query.to_value_datetime, 'to_value_datetime'),
    order: query.order === 'asc' ? 'asc' : 'desc',
  };
}

/** @throws Problem invalid_parameter */
function instant(text: string | undefined, field: string): Date | undefined {
  if (text === undefined) return undefined;
  const read = parseDateTime(text);
  if (read) return read;
  throw new Problem('invalid_parameter', { field, message: A_DATE_TIME });
}

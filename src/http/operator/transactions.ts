import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { bookTransaction } from '../../accounts/booking.ts';
import { TRANSACTION_KINDS, type TransactionInput } from '../../accounts/transaction.ts';
import { findTransaction, listTransactions } from '../../accounts/transaction-list.ts';
import type { Context } from '../../context.ts';
import { optionalInstant } from '../instant.ts';
import { sendList } from '../reply.ts';
import {
  ClientId,
  type ClientPage,
  ClientPageQuery,
  Currency,
  closed,
  Decimal,
  errors,
  Id,
  Instant,
  idPath,
  jsonAnswer,
  listRequest,
  Nullable,
  Text,
  TOTAL_COUNT,
} from '../schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const text = (description: string) => Type.Optional(Nullable(Text(description)));

const Party = Type.Object(
  {
    account_name: text('Name'),
    account_number: text('Account number'),
    bank_identifier: text('Bank identifier'),
    bank_identifier_code: text('Bank identifier code'),
    iban: text('IBAN'),
    swift: text('BIC'),
  },
  closed,
);
export const TransactionBody = Type.Object(
  {
    client_id: ClientId,
    currency_account_id: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Currency account',
    }),
    kind: Type.Enum([...TRANSACTION_KINDS]),
    amount: Type.Object({ amount: Decimal('Amount'), currency: Currency() }, closed),
    transaction_id: Type.Optional(Id('Chosen by the core; default: a UUID')),
    creditor_name: text('Creditor'),
    creditor_account: Type.Optional(Nullable(Party)),
    debtor_name: text('Debtor'),
    debtor_account: Type.Optional(Nullable(Party)),
    transaction_reference: text('Reference'),
    transaction_information: text('Information'),
    additional_transaction_information: text('Further information'),
    booking_datetime: Type.Optional(Instant('When it was booked; default: now')),
    value_datetime: Type.Optional(Instant('Value date; default: the booking date')),
  },
  {
    ...closed,
    examples: [
      {
        client_id: 'CLI000001',
        currency_account_id: 1,
        kind: 'CREDIT_INCOMING_TRANSACTION',
        amount: { amount: '1500.00', currency: 'EUR' },
        debtor_name: 'Müller GmbH',
      },
    ],
  },
);
const BOOK = {
  config: FEED,
  schema: {
    operationId: 'bookTransaction',
    tags: ['accounts'],
    summary: 'Book a transaction',
    body: TransactionBody,
    response: errors(400, 404, 409, 502, 'client_not_found', 'currency_account_not_found', 'already_exists'),
  },
};

const Booked = Type.Object({
  client_id: Type.String(),
  kind: Type.Enum([...TRANSACTION_KINDS]),
  payment_id: Nullable(Type.String({ description: 'The payment that was returned by it' })),
  transaction_id: Type.String(),
  account_id: Type.String(),
  transaction_reference: Nullable(Type.String()),
  transaction_information: Nullable(Type.String()),
  additional_transaction_information: Nullable(Type.String()),
  amount: Type.Object({ amount: Type.String(), currency: Type.String() }),
  balance: Type.Object({}, { additionalProperties: true, description: 'The balance after it' }),
  credit_debit_indicator: Type.Enum(['Credit', 'Debit']),
  status: Type.String(),
  booking_datetime: Type.String({ format: 'date-time' }),
  value_datetime: Type.String({ format: 'date-time' }),
  creditor_name: Nullable(Type.String()),
  creditor_account: Nullable(Type.Object({}, { additionalProperties: true })),
  debtor_name: Nullable(Type.String()),
  debtor_account: Nullable(Type.Object({}, { additionalProperties: true })),
});

const TransactionList = Type.Object({
  ...ClientPageQuery.properties,
  currency_account_id: Type.Optional(Type.Integer({ minimum: 1, description: 'Only of this currency account' })),
  from: Type.Optional(Instant('Booked from this instant on')),
  to: Type.Optional(Instant('Booked before this instant')),
});

const LIST = {
  config: READ,
  schema: {
    tags: ['accounts'],
    operationId: 'listTransactions',
    summary: 'List transactions, the newest first',
    querystring: TransactionList,
    response: { 200: jsonAnswer('A page', Type.Array(Booked), TOTAL_COUNT), ...errors(400, 403, 502) },
  },
};

const READ_ONE = {
  config: READ,
  schema: {
    tags: ['accounts'],
    operationId: 'getTransaction',
    summary: 'Read a transaction',
    params: idPath('id'),
    response: { 200: jsonAnswer('The transaction', Booked), ...errors(403, 404, 502, 'transaction_not_found') },
  },
};

/** Transactions of currency accounts (docs/operator-interface.md). */
export function operatorTransactionRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Body: TransactionInput }>(
    '/transactions',
    BOOK,
    change(context, 201, (tx, act, request) => bookTransaction(tx, act, request.body)),
  );
  app.get<{ Querystring: ClientPage & { currency_account_id?: number; from?: string; to?: string } }>(
    '/transactions',
    LIST,
    async ({ query }, reply) => {
      const filter = {
        currencyAccountId: query.currency_account_id,
        from: optionalInstant(query.from, 'from'),
        to: optionalInstant(query.to, 'to'),
      };
      return sendList(reply, await listTransactions(context.pool, filter, listRequest(query)));
    },
  );
  app.get<{ Params: { id: string } }>('/transactions/:id', READ_ONE, (request) =>
    findTransaction(context.pool, request.params.id),
  );
}

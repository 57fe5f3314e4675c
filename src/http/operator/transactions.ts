import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { bookTransaction } from '../../accounts/booking.ts';
import { TRANSACTION_KINDS } from '../../accounts/transaction.ts';
import { findTransaction, listTransactions } from '../../accounts/transaction-list.ts';
import type { Context } from '../../context.ts';
import { ClientId, CurrencyCode, closed, Decimal, Id, Instant, Nullable, Text } from '../../values/schemas.ts';
import { BookedTransaction, TRANSACTION_EXAMPLE } from '../schemas/event-schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { periodOf, periodQuery } from '../schemas/period.ts';
import { sendList } from '../schemas/reply.ts';
import { ClientPageQuery, errors, idPath, jsonAnswer, listAnswer, listRequest } from '../schemas/schemas.ts';
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
    amount: Type.Object(
      { amount: Decimal('Amount', { positive: true }), currency: CurrencyCode("The account's currency") },
      closed,
    ),
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
    title: 'TransactionInput',
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
/** A transaction as the institution reads it. */
const TransactionRecord = Type.Object(
  {
    client_id: ClientId,
    kind: Type.Enum([...TRANSACTION_KINDS]),
    payment_id: Nullable(Type.String({ description: 'The payment that was returned by it' })),
    ...BookedTransaction.properties,
  },
  {
    title: 'Transaction',
    examples: [
      { client_id: 'CLI000001', kind: 'CREDIT_INCOMING_TRANSACTION', payment_id: null, ...TRANSACTION_EXAMPLE },
    ],
  },
);

const BOOK = operation('POST /transactions', {
  config: { ...FEED, location: '/transactions/{transaction_id}' },
  schema: {
    operationId: 'bookTransaction',
    tags: ['accounts'],
    summary: 'Book a transaction',
    body: TransactionBody,
    response: {
      201: jsonAnswer('The transaction', TransactionRecord),
      ...errors(400, 404, 409, 502, 'client_not_found', 'currency_account_not_found', 'already_exists'),
    },
  },
});

const TransactionList = Type.Object({
  ...ClientPageQuery.properties,
  currency_account_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Only of this currency account' }),
  ),
  ...periodQuery('Booked'),
});

const LIST = operation('GET /transactions', {
  config: READ,
  schema: {
    tags: ['accounts'],
    operationId: 'listTransactions',
    summary: 'List transactions, the newest first',
    querystring: TransactionList,
    response: {
      200: listAnswer('A page of transactions, the newest first', TransactionRecord),
      ...errors(400, 403, 502),
    },
  },
});

const READ_ONE = operation('GET /transactions/{id}', {
  config: READ,
  schema: {
    tags: ['accounts'],
    operationId: 'getTransaction',
    summary: 'Read a transaction',
    params: idPath('id'),
    response: {
      200: jsonAnswer('The transaction', TransactionRecord),
      ...errors(403, 404, 502, 'transaction_not_found'),
    },
  },
});

/** Transactions of currency accounts (docs/operator-interface.md). */
export function operatorTransactionRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    BOOK,
    change(context, 201, (tx, act, request) => bookTransaction(tx, act, request.body)),
  );
  serve(app, LIST, async ({ query }, reply) => {
    const filter = {
      currencyAccountId: query.currency_account_id,
      ...periodOf(query),
    };
    return sendList(reply, await listTransactions(context.pool, filter, listRequest(query)));
  });
  serve(app, READ_ONE, (request) => findTransaction(context.pool, request.params.id));
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { accountKey } from '../../accounts/account-lock.ts';
import { type BookingCall, bookTransactions } from '../../accounts/booking.ts';
import { TRANSACTION } from '../../accounts/transaction.ts';
import { findTransaction, listTransactions } from '../../accounts/transaction-list.ts';
import type { Context } from '../../context.ts';
import { closed } from '../../values/schemas.ts';
import { TRANSACTION_EXAMPLE } from '../schemas/event-schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { periodOf, periodQuery } from '../schemas/period.ts';
import { sendList } from '../schemas/reply.ts';
import { ClientPageQuery, errors, idPath, jsonAnswer, listAnswer, listRequest } from '../schemas/schemas.ts';
import { shareChanges } from '../server/change-queue.ts';
import { answersOf, type SharedChange, sendChange, sharedChange } from './change.ts';
import { FEED, READ } from './listener.ts';

export const TransactionBody = Type.Object(
  TRANSACTION.given(
    ...(['client_id', 'currency_account_id', 'kind', 'amount', 'transaction_id'] as const),
    ...(['creditor_name', 'creditor_account', 'debtor_name', 'debtor_account'] as const),
  ),
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
/** A transaction in the form that the institution reads. */
const TransactionRecord = Type.Object(TRANSACTION.shown, {
  title: 'Transaction',
  examples: [
    {
      client_id: 'CLI000001',
      kind: 'CREDIT_INCOMING_TRANSACTION',
      payment_id: null,
      trade_id: null,
      ...TRANSACTION_EXAMPLE,
    },
  ],
});

const BOOK = operation('POST /transactions', {
  config: { ...FEED, location: '/transactions/{transaction_id}' },
  schema: {
    operationId: 'bookTransaction',
    tags: ['accounts'],
    summary: 'Book a transaction',
    body: TransactionBody,
    response: {
      201: jsonAnswer('The transaction', TransactionRecord),
      ...errors(
        400,
        404,
        409,
        502,
        'client_not_found',
        'currency_account_not_found',
        'payment_not_found',
        'trade_not_found',
        'currency_mismatch',
        'already_exists',
      ),
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
  // The bookings of one account follow each other, because each records the balance after it.
  const book = shareChanges<SharedChange & BookingCall>(context, async (tx, calls, whenLocked) =>
    answersOf(201, await bookTransactions(tx, calls, { whenLocked })),
  );
  serve(app, BOOK, async (request, reply) =>
    sendChange(reply, await book(accountKey(request.body), { ...sharedChange(request), input: request.body })),
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

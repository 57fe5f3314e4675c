import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { accountKey, type WhenLocked } from '../../accounts/account-lock.ts';
import { type BookingCall, bookTransactions } from '../../accounts/booking.ts';
import { BookingQueue } from '../../accounts/booking-queue.ts';
import { TRANSACTION } from '../../accounts/transaction.ts';
import { findTransaction, listTransactions } from '../../accounts/transaction-list.ts';
import type { Context } from '../../context.ts';
import { ClientMoves } from '../../database/cells/client-moves.ts';
import { inScope } from '../../database/cells/scope.ts';
import type { Transaction } from '../../database/database.ts';
import type { StoredAnswer } from '../../operator/idempotency.ts';
import { tracing } from '../../process/tracing.ts';
import { Problem } from '../../values/errors.ts';
import { closed } from '../../values/schemas.ts';
import { codeOf } from '../../values/unknown.ts';
import { TRANSACTION_EXAMPLE } from '../schemas/event-schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { periodOf, periodQuery } from '../schemas/period.ts';
import { sendList } from '../schemas/reply.ts';
import { ClientPageQuery, errors, idPath, jsonAnswer, listAnswer, listRequest } from '../schemas/schemas.ts';
import { runChange, runTogether } from '../server/change.ts';
import { guardOf, operatorAct, sendChange } from './change.ts';
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
  const queue = bookings(context);
  serve(app, BOOK, async (request, reply) => {
    const traceparent = tracing()?.current();
    const call = { request, act: operatorAct(request), input: request.body, traceparent, ...guardOf(request) };
    const cell = request.cellScope?.cell;
    return sendChange(reply, await queue.book(typeof cell === 'number' ? cell : 0, accountKey(request.body), call));
  });
  serve(app, LIST, async ({ query }, reply) => {
    const filter = {
      currencyAccountId: query.currency_account_id,
      ...periodOf(query),
    };
    return sendList(reply, await listTransactions(context.pool, filter, listRequest(query)));
  });
  serve(app, READ_ONE, (request) => findTransaction(context.pool, request.params.id));
}

type BookingRequest = BookingCall & ReturnType<typeof guardOf> & { request: FastifyRequest };

/** SQLSTATEs for a value that the database refuses: out of range, against a constraint, or a duplicate. */
const REFUSED_VALUE = /^2[23]/;

/** Thrown to undo a booking whose account is locked. */
class AccountLocked extends Error {}

/** Queues bookings. */
function bookings(context: Context): BookingQueue<BookingRequest, StoredAnswer> {
  const book = async (tx: Transaction, calls: readonly BookingCall[], whenLocked: WhenLocked) =>
    (await bookTransactions(tx, calls, { whenLocked })).map((outcome) =>
      outcome === undefined || outcome instanceof Problem ? outcome : { status: 201, body: JSON.stringify(outcome) },
    );

  const alone = ({ request, keyed, confirm, ...call }: BookingRequest, whenLocked: WhenLocked) =>
    runChange(context, request, {
      ...{ keyed, confirm },
      work: async (tx) => {
        const [outcome] = await book(tx, [call], whenLocked);
        if (outcome instanceof Problem) throw outcome;
        if (outcome === undefined) throw new AccountLocked('the account of a booking is locked');
        return outcome;
      },
    }).catch((error: unknown) => {
      if (error instanceof AccountLocked) return undefined;
      throw error;
    });

  const shared = (calls: readonly BookingRequest[], whenLocked: WhenLocked) =>
    runTogether(context, calls, (tx, fit) => book(tx, fit, whenLocked)).catch((error: unknown) => {
      // One of them has such a value, or its client is being moved. Nothing was booked. Each is booked alone, and told its own fault.
      if (REFUSED_VALUE.test(codeOf(error) ?? '') || error instanceof ClientMoves) return [];
      throw error;
    });

  return new BookingQueue((calls, whenLocked) => {
    const [first] = calls;
    const work = async () =>
      first && calls.length === 1 ? [await alone(first, whenLocked)] : shared(calls, whenLocked);
    // A turn begins when another one ends, so it would run in the cell of that one.
    return first?.request.cellScope ? inScope(first.request.cellScope, work) : work();
  });
}

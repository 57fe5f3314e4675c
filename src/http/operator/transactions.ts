import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { bookTransaction } from '../../accounts/booking.ts';
import { TRANSACTION_KINDS, type TransactionInput } from '../../accounts/transaction.ts';
import type { Context } from '../../context.ts';
import { ClientId, Currency, closed, Decimal, errors, Id, Instant, Nullable, Text } from '../schemas.ts';
import { change } from './change.ts';
import { FEED } from './listener.ts';

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
    tags: ['accounts'],
    summary: 'Book a transaction',
    body: TransactionBody,
    response: errors(400, 404, 409, 502),
  },
};

/** Transactions of currency accounts (docs/operator-interface.md). */
export function operatorTransactionRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Body: TransactionInput }>(
    '/transactions',
    BOOK,
    change(context, 201, (tx, act, request) => bookTransaction(tx, act, request.body)),
  );
}

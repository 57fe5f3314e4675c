import { type Static, Type } from 'typebox';
import {
  chosen,
  type Input,
  initially,
  made,
  optional,
  RecordKind,
  required,
  type Shown,
  unseen,
} from '../database/record.ts';
import { londonTimestamp, parseInstant } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { plain } from '../values/money.ts';
import { ClientId, CurrencyCode, closed, Decimal, Id, Instant, Nullable, Text } from '../values/schemas.ts';

/** The kinds of transactions. Each is a WebhookType, and each transaction causes one notification of its type (docs/decisions.md, 3). */
export const TRANSACTION_KINDS = [
  'CREDIT_INCOMING_TRANSACTION',
  'CREDIT_MARGIN_TRANSACTION',
  'CREDIT_PAYMENT_RETURNED_TRANSACTION',
  'CREDIT_TRANSACTION',
  'DEBIT_TRANSACTION',
] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];

/** The columns of a currency account that count its transactions of each kind. */
export const COUNTS = {
  CREDIT_INCOMING_TRANSACTION: 'booked_incoming',
  CREDIT_MARGIN_TRANSACTION: 'booked_margin',
  CREDIT_PAYMENT_RETURNED_TRANSACTION: 'booked_payment_returned',
  CREDIT_TRANSACTION: 'booked_credit',
  DEBIT_TRANSACTION: 'booked_debit',
} as const satisfies Record<TransactionKind, string>;

/** The account on one side of a transaction: its fields with their descriptions. */
const PARTY = {
  account_name: 'Name',
  account_number: 'Account number',
  bank_identifier: 'Bank identifier',
  bank_identifier_code: 'Bank identifier code',
  iban: 'IBAN',
  swift: 'BIC',
} as const;
const PARTY_FIELDS = Object.keys(PARTY) as (keyof typeof PARTY)[];

const GIVEN_PARTY = Type.Object(
  ofParty((name) => Type.Optional(Nullable(Text(PARTY[name])))),
  closed,
);
const SHOWN_PARTY = Type.Object(
  ofParty((name) => text(PARTY[name])),
  { title: 'Party' },
);
type Party = Static<typeof SHOWN_PARTY>;

/** An amount in answers and events. */
const MONEY = Type.Object(
  { amount: Type.String({ description: 'A decimal' }), currency: Type.String() },
  { title: 'Money' },
);
const INDICATOR = Type.Enum(['Credit', 'Debit']);
const ACCOUNT = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Currency account' });

const words = (description: string) => optional(Text(description), { shown: text(description) });
const side = () =>
  optional(GIVEN_PARTY, { shown: Nullable(SHOWN_PARTY), normal: (given) => JSON.stringify(party(given)) });
/** An instant. It is stored as `readBooking` has read it. */
const instant = (given: string, description: string) =>
  initially(Instant(given), undefined, {
    shown: Type.String({ format: 'date-time', description }),
    form: (value: string | Date) => (value instanceof Date ? value : moment(value, ''))?.getTime(),
  });

/** A transaction of a currency account in the form that the institution gives and reads (service interface, Transaction). */
export const TRANSACTION = new RecordKind({
  table: 'transactions',
  id: 'transaction_id',
  fields: {
    client_id: required(ClientId, { shown: ClientId }),
    kind: required(Type.Enum([...TRANSACTION_KINDS])),
    payment_id: optional(Text('The payment that it pays for, or that it returns', 64), {
      shown: text('The payment that it pays for, or that it returns'),
    }),
    trade_id: optional(Text('The trade that it pays for', 64), { shown: text('The trade that it pays for') }),
    transaction_id: chosen(Id('Chosen by the core; default: a UUID')),
    currency_account_id: unseen(required(ACCOUNT)),
    account_id: made(Type.String({ description: 'The currency account' }), { column: 'currency_account_id' }),
    transaction_reference: words('Reference'),
    transaction_information: words('Information'),
    additional_transaction_information: words('Further information'),
    /** It has two columns: `currency`, and `amount`, which is negative for a debit. */
    amount: required(
      Type.Object(
        { amount: Decimal('Amount', { positive: true }), currency: CurrencyCode("The account's currency") },
        closed,
      ),
      { elsewhere: 'amount', shown: MONEY },
    ),
    balance: made(
      Type.Object(
        { amount: MONEY, type: Type.Literal('InterimAvailable'), credit_debit_indicator: INDICATOR },
        { description: 'The balance of the account after the booking' },
      ),
      { column: 'balance_after' },
    ),
    credit_debit_indicator: made(INDICATOR),
    status: made(Type.Literal('Booked')),
    booking_datetime: instant('When it was booked; default: now', 'When it was booked'),
    value_datetime: instant('Value date; default: the booking date', 'Its value date'),
    creditor_name: words('Creditor'),
    creditor_account: side(),
    debtor_name: words('Debtor'),
    debtor_account: side(),
  },
});
export type TransactionInput = Input<typeof TRANSACTION>;
/** A booked transaction in the form that the institution sees. */
export type TransactionRecord = Shown<typeof TRANSACTION>;

/** Fields of a transaction that only the institution sees. */
const OF_INSTITUTION = ['client_id', 'kind', 'payment_id', 'trade_id'] as const;
/** The schema of a transaction in events. */
export const BOOKED_TRANSACTION = Type.Omit(Type.Object(TRANSACTION.shown), [...OF_INSTITUTION]);
type BookedTransaction = Omit<TransactionRecord, (typeof OF_INSTITUTION)[number]>;
const BOOKED_FIELDS = Object.keys(BOOKED_TRANSACTION.properties) as (keyof BookedTransaction)[];

/** How stored transactions are compared with lines of an import. */
export const TRANSACTION_COMPARISON = {
  ...TRANSACTION.comparison,
  fields: {
    ...TRANSACTION.comparison.fields,
    amount: `json_build_object('amount', abs(t.amount)::text, 'currency', t.currency)`,
  },
  forms: {
    ...TRANSACTION.comparison.forms,
    amount: (value: unknown) => {
      const { amount, currency } = value as TransactionInput['amount'];
      return `${plain(amount)} ${currency}`;
    },
  },
};

/** A transaction that is booked. Amounts are decimal strings. */
export interface Booking {
  input: TransactionInput;
  /** The caller's identifier; if there is none, one is made before the transaction is written. */
  id: string | undefined;
  amount: string;
  debit: boolean;
  booked: Date;
  valued: Date;
  created: Date;
  /** The balance of its account afterwards, known once it is written. */
  balance: string;
}

/** A booked transaction in the form that events carry. */
export function shown({
  input,
  id,
  amount,
  debit,
  balance,
  booked,
  valued,
}: Omit<Booking, 'created'>): BookedTransaction {
  const currency = input.amount.currency;
  const overdrawn = balance.startsWith('-');
  return TRANSACTION.show(BOOKED_FIELDS, {
    ...input,
    transaction_id: id,
    account_id: String(input.currency_account_id),
    amount: { amount, currency },
    balance: {
      amount: { amount: overdrawn ? balance.slice(1) : balance, currency },
      type: 'InterimAvailable',
      credit_debit_indicator: overdrawn ? 'Debit' : 'Credit',
    },
    credit_debit_indicator: debit ? 'Debit' : 'Credit',
    status: 'Booked',
    booking_datetime: londonTimestamp(booked),
    value_datetime: londonTimestamp(valued),
    creditor_account: input.creditor_account && party(input.creditor_account),
    debtor_account: input.debtor_account && party(input.debtor_account),
  });
}

/** @param booked the same transaction, in the form that events carry */
export function transactionRecord(
  { client_id, kind, payment_id = null, trade_id = null }: Pick<TransactionInput, (typeof OF_INSTITUTION)[number]>,
  booked: BookedTransaction,
): TransactionRecord {
  return { client_id, kind, payment_id, trade_id, ...booked };
}

/** The account of one side with all its fields; a missing one is null. */
function party(input: Partial<Party>): Party {
  return ofParty((name) => input[name] ?? null);
}

function ofParty<Value>(make: (name: keyof typeof PARTY) => Value): Record<keyof typeof PARTY, Value> {
  return Object.fromEntries(PARTY_FIELDS.map((name) => [name, make(name)])) as Record<keyof typeof PARTY, Value>;
}

function text(description: string) {
  return Nullable(Type.String({ description }));
}

/** Reads an instant from the caller; undefined stays undefined. @throws Problem invalid_body */
export function moment(text: string | undefined, field: string): Date | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (!instant) throw new Problem('invalid_body', { field, message: 'must be an ISO 8601 timestamp with an offset' });
  return instant;
}

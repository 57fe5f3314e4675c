import { londonTimestamp, parseInstant } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';

/** The kinds of transactions: each is a WebhookType, and causes one notification of it (docs/decisions.md, 3). */
export const TRANSACTION_KINDS = [
  'CREDIT_INCOMING_TRANSACTION',
  'CREDIT_MARGIN_TRANSACTION',
  'CREDIT_PAYMENT_RETURNED_TRANSACTION',
  'CREDIT_TRANSACTION',
  'DEBIT_TRANSACTION',
] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];

/** The account on one side of a transaction. */
export interface Party {
  account_name?: string | null;
  account_number?: string | null;
  bank_identifier?: string | null;
  bank_identifier_code?: string | null;
  iban?: string | null;
  swift?: string | null;
}

export interface TransactionInput {
  client_id: string;
  currency_account_id: number;
  kind: TransactionKind;
  amount: { amount: number | string; currency: string };
  transaction_id?: string;
  creditor_name?: string | null;
  creditor_account?: Party | null;
  debtor_name?: string | null;
  debtor_account?: Party | null;
  transaction_reference?: string | null;
  transaction_information?: string | null;
  additional_transaction_information?: string | null;
  booking_datetime?: string;
  value_datetime?: string;
  payment_id?: string;
}

/** A transaction as events carry it (the service interface, Transaction). */
export interface BookedTransaction {
  transaction_id: string;
  account_id: string;
  amount: { amount: string; currency: string };
  balance: {
    amount: { amount: string; currency: string };
    type: 'InterimAvailable';
    credit_debit_indicator: 'Credit' | 'Debit';
  };
  [field: string]: unknown;
}

/** A transaction that is booked. Amounts are decimal strings. */
export interface Booking {
  input: TransactionInput;
  /** The caller's identifier, or one that is made before it is written. */
  id: string | undefined;
  amount: string;
  debit: boolean;
  booked: Date;
  valued: Date;
  /** Of its account afterwards; known once it is written. */
  balance: string;
}

/** A booked transaction as events carry it. */
export function shown({ input, id, amount, debit, balance, booked, valued }: Booking): BookedTransaction {
  const currency = input.amount.currency;
  const overdrawn = balance.startsWith('-');
  return {
    transaction_id: id as string,
    account_id: String(input.currency_account_id),
    transaction_reference: input.transaction_reference ?? null,
    transaction_information: input.transaction_information ?? null,
    additional_transaction_information: input.additional_transaction_information ?? null,
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
    creditor_name: input.creditor_name ?? null,
    creditor_account: input.creditor_account ? party(input.creditor_account) : null,
    debtor_name: input.debtor_name ?? null,
    debtor_account: input.debtor_account ? party(input.debtor_account) : null,
  };
}

/** A booked transaction as the institution sees it. */
export interface TransactionRecord extends BookedTransaction {
  client_id: string;
  kind: string;
  payment_id: string | null;
}

export function transactionRecord(
  { client_id, kind, payment_id }: Pick<TransactionRecord, 'client_id' | 'kind' | 'payment_id'>,
  booked: BookedTransaction,
): TransactionRecord {
  return { client_id, kind, payment_id, ...booked };
}

/** One side's account with all its fields, null where they are absent. */
export function party(input: Party): Required<Party> {
  return {
    account_name: input.account_name ?? null,
    account_number: input.account_number ?? null,
    bank_identifier: input.bank_identifier ?? null,
    bank_identifier_code: input.bank_identifier_code ?? null,
    iban: input.iban ?? null,
    swift: input.swift ?? null,
  };
}

/** Reads an instant of the caller; undefined stays undefined. @throws Problem invalid_body */
export function moment(text: string | undefined, field: string): Date | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (!instant) throw new Problem('invalid_body', { field, message: 'must be an ISO 8601 timestamp with an offset' });
  return instant;
}

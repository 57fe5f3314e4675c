import Big from 'big.js';
import { decimalsOf } from '../values/money.ts';

/** A statement, independent of its format: for one client, with one section for each currency account. */
export interface AccountStatement {
  /** The request's UUID. */
  statement_id: string;
  client: { client_id: string; client_name: string; account_number: string | null };
  /** London days; both are included. */
  date_from: string;
  date_to: string;
  /** When it was requested, with the London offset. */
  created_at: string;
  sections: StatementSection[];
}

export interface StatementSection {
  account_id: string;
  currency: string;
  /** Decimal strings with a sign. */
  opening: string;
  closing: string;
  /** They are known before the lines are read, because page numbers and the summary of camt.053 precede the lines. */
  totals: { credit_count: number; credits: string; debit_count: number; debits: string };
  /** In the order of booking. */
  lines: AsyncIterable<StatementLine>;
}

/** A booked transaction, with the names of the service interface. */
export interface StatementLine {
  transaction_id: string;
  /** A transaction WebhookType, such as `CREDIT_INCOMING_TRANSACTION`. */
  kind: string;
  credit_debit_indicator: 'Credit' | 'Debit';
  /** Decimal string without a sign. */
  amount: string;
  /** Moments with the London offset. */
  booking_datetime: string;
  value_datetime: string | null;
  transaction_reference: string | null;
  transaction_information: string | null;
  additional_transaction_information: string | null;
  creditor_name: string | null;
  creditor_account: StatementParty | null;
  debtor_name: string | null;
  debtor_account: StatementParty | null;
}

export interface StatementParty {
  account_name: string | null;
  account_number: string | null;
  bank_identifier: string | null;
  bank_identifier_code: string | null;
  iban: string | null;
  swift: string | null;
}

/** A line with the balance after it. */
export interface BalancedLine {
  line: StatementLine;
  /** `amount` with its sign. */
  signed: string;
  balance: string;
}

/** The number of lines that a section will have. */
export function lineCount({ totals }: StatementSection): number {
  return totals.credit_count + totals.debit_count;
}

/**
 * The lines of a section, each with the balance after it. The balance is added up here. It must end at the closing balance, which was read
 * separately, so a statement that does not add up is never sent.
 * @throws Error that names the account if lines and totals differ
 */
export async function* balancedLines(section: StatementSection): AsyncGenerator<BalancedLine> {
  let balance = new Big(section.opening);
  const decimals = Math.max(decimalsOf(section.opening), decimalsOf(section.closing));
  let read = 0;
  for await (const line of section.lines) {
    const signed = line.credit_debit_indicator === 'Debit' ? new Big(line.amount).neg() : new Big(line.amount);
    balance = balance.plus(signed);
    read += 1;
    const places = Math.max(decimals, decimalsOf(line.amount));
    yield {
      line,
      signed: signed.toFixed(places),
      balance: balance.toFixed(Math.max(places, decimalsOf(balance.toFixed()))),
    };
  }
  if (read !== lineCount(section))
    throw new Error(`account ${section.account_id}: ${read} lines where ${lineCount(section)} were counted`);
  if (!balance.eq(section.closing))
    throw new Error(`account ${section.account_id}: lines end in ${balance}, closing is ${section.closing}`);
}

/** The other party of a line: the payer of a credit, or the payee of a debit. */
export function counterparty(line: StatementLine): { name: string | null; account: StatementParty | null } {
  return line.credit_debit_indicator === 'Credit'
    ? { name: line.debtor_name ?? line.debtor_account?.account_name ?? null, account: line.debtor_account }
    : { name: line.creditor_name ?? line.creditor_account?.account_name ?? null, account: line.creditor_account };
}

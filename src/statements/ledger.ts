import Big from 'big.js';
import { addDays, londonTimestamp, startOfLondonDay } from '../calendar.ts';
import type { Db } from '../database.ts';
import type { StatementLine, StatementParty, StatementSection } from './account-statement.ts';

/** Transactions that are read at a time. */
const PAGE = 250;

/** What of an account a statement covers. */
export interface Coverage {
  clientId: string;
  accountId: number;
  currency: string;
  /** transactions.id of the last one that counts; null where there was none. */
  last: number | null;
  /** London days, both ends counted. */
  dateFrom: string;
  dateTo: string;
}

/** The books contradict themselves: nothing is sent. */
class LedgerMismatch extends Error {}

/**
 * Opening and closing balance, totals and lines of an account. The opening balance is reckoned twice, forward from the
 * account's first transaction and backward from the balance that its last one left, and both must agree.
 * @throws LedgerMismatch
 */
export async function readSection(db: Db, coverage: Coverage): Promise<StatementSection> {
  const { accountId, currency, clientId, last } = coverage;
  const [from, to] = bounds(coverage);
  const { rows } = await db.query<{
    before: string;
    behind: string;
    credits: string;
    credit_count: number;
    debits: string;
    debit_count: number;
    left: string | null;
  }>(
    `select coalesce(sum(amount) filter (where booking_datetime < $4), 0) as before,
       coalesce(sum(amount) filter (where booking_datetime >= $5), 0) as behind,
       coalesce(sum(amount) filter (where amount > 0 and booking_datetime >= $4 and booking_datetime < $5), 0) as credits,
       count(*) filter (where amount > 0 and booking_datetime >= $4 and booking_datetime < $5) as credit_count,
       coalesce(-sum(amount) filter (where amount < 0 and booking_datetime >= $4 and booking_datetime < $5), 0) as debits,
       count(*) filter (where amount < 0 and booking_datetime >= $4 and booking_datetime < $5) as debit_count,
       (select balance_after from transactions where client_id = $1 and currency_account_id = $2 and id = $3) as left
     from transactions where client_id = $1 and currency_account_id = $2 and id <= $3`,
    [clientId, accountId, last, from, to],
  );
  const { before, behind, credits, credit_count, debits, debit_count, left } = rows[0]!;
  const closing = new Big(before).plus(credits).minus(debits);
  const backward = new Big(left ?? 0).minus(behind).minus(credits).plus(debits);
  if (!backward.eq(before))
    throw new LedgerMismatch(
      `currency account ${accountId}: its transactions before ${coverage.dateFrom} make ${before}, its balance says ${backward.toFixed()}`,
    );
  return {
    account_id: String(accountId),
    currency,
    opening: new Big(before).toFixed(decimals(before)),
    closing: closing.toFixed(Math.max(decimals(before), decimals(credits), decimals(debits))),
    totals: { credit_count, credits, debit_count, debits },
    lines: lines(db, coverage),
  };
}

/** The last day that can be written in a request; what follows it has a year of five digits. */
const LAST_DAY = '9999-12-31';
const END_OF_DAYS = new Date(Date.UTC(10_000, 0, 1));

/** From the first instant of the first day up to the first one after the last day. */
function bounds({ dateFrom, dateTo }: Coverage): [from: Date, to: Date] {
  return [startOfLondonDay(dateFrom), dateTo === LAST_DAY ? END_OF_DAYS : startOfLondonDay(addDays(dateTo, 1))];
}

function decimals(amount: string): number {
  return amount.split('.')[1]?.length ?? 0;
}

interface Row {
  id: number;
  /** As PostgreSQL writes it: a Date would lose the microseconds that the order depends on. */
  place: string;
  transaction_id: string;
  kind: string;
  amount: string;
  booking_datetime: Date;
  value_datetime: Date;
  transaction_reference: string | null;
  transaction_information: string | null;
  additional_transaction_information: string | null;
  creditor_name: string | null;
  creditor_account: StatementParty | null;
  debtor_name: string | null;
  debtor_account: StatementParty | null;
}

async function* lines(db: Db, coverage: Coverage): AsyncGenerator<StatementLine> {
  const [from, to] = bounds(coverage);
  let place: Date | string = from;
  let id = 0;
  for (;;) {
    const { rows }: { rows: Row[] } = await db.query<Row>({
      name: 'statement-lines',
      text: `select id, booking_datetime::text as place, transaction_id, kind, amount, booking_datetime, value_datetime, transaction_reference,
           transaction_information, additional_transaction_information, creditor_name, creditor_account, debtor_name, debtor_account
         from transactions
         where client_id = $1 and currency_account_id = $2 and id <= $3 and (booking_datetime, id) > ($4, $5) and booking_datetime < $6
         order by booking_datetime, id limit ${PAGE}`,
      values: [coverage.clientId, coverage.accountId, coverage.last, place, id, to],
    });
    for (const row of rows) yield line(row);
    const end = rows.at(-1);
    if (!end || rows.length < PAGE) return;
    place = end.place;
    id = end.id;
  }
}

function line(row: Row): StatementLine {
  const { id: _id, place: _place, amount, booking_datetime, value_datetime, ...rest } = row;
  return {
    ...rest,
    credit_debit_indicator: amount.startsWith('-') ? 'Debit' : 'Credit',
    amount: amount.replace('-', ''),
    booking_datetime: londonTimestamp(booking_datetime),
    value_datetime: londonTimestamp(value_datetime),
  };
}

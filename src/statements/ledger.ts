import Big from 'big.js';
import type { Db } from '../database/database.ts';
import { addDays, londonTimestamp, startOfLondonDay } from '../values/calendar.ts';
import { decimalsOf } from '../values/money.ts';
import type { StatementLine, StatementSection } from './account-statement.ts';

/** The number of transactions that are read at once. */
const PAGE_ROWS = 250;

/** The range of an account that a statement covers. */
export interface Coverage {
  clientId: string;
  accountId: number;
  currency: string;
  /** transactions.id of the last transaction that is included; null if there is none. */
  last: number | null;
  /** London days; both are included. */
  dateFrom: string;
  dateTo: string;
}

/** Balances and transactions contradict each other, so nothing is sent. */
class LedgerMismatch extends Error {}

/**
 * Opening and closing balance, totals and lines of an account. The opening balance is computed twice: forward from the account's first
 * transaction, and backward from the balance after its last one. Both must agree.
 * @throws LedgerMismatch
 */
export async function readSection(db: Db, coverage: Coverage): Promise<StatementSection> {
  const { accountId, currency, clientId, last } = coverage;
  const [from, to] = bounds(coverage);
  const { rows } = await db.query<{
    before: string;
    after: string;
    credits: string;
    credit_count: number;
    debits: string;
    debit_count: number;
    left: string | null;
  }>(
    `select coalesce(sum(amount) filter (where booking_datetime < $4), 0) as before,
       coalesce(sum(amount) filter (where booking_datetime >= $5), 0) as after,
       coalesce(sum(amount) filter (where amount > 0 and booking_datetime >= $4 and booking_datetime < $5), 0) as credits,
       count(*) filter (where amount > 0 and booking_datetime >= $4 and booking_datetime < $5) as credit_count,
       coalesce(-sum(amount) filter (where amount < 0 and booking_datetime >= $4 and booking_datetime < $5), 0) as debits,
       count(*) filter (where amount < 0 and booking_datetime >= $4 and booking_datetime < $5) as debit_count,
       (select balance_after from transactions where client_id = $1 and currency_account_id = $2 and id = $3) as left
     from transactions where client_id = $1 and currency_account_id = $2 and id <= $3`,
    [clientId, accountId, last, from, to],
  );
  const { before, after, credits, credit_count, debits, debit_count, left } = rows[0]!;
  const closing = new Big(before).plus(credits).minus(debits);
  const backward = new Big(left ?? 0).minus(after).minus(credits).plus(debits);
  if (!backward.eq(before))
    throw new LedgerMismatch(
      `currency account ${accountId}: its transactions before ${coverage.dateFrom} add up to ${before}, but its balance gives ${backward.toFixed()}`,
    );
  return {
    account_id: String(accountId),
    currency,
    opening: new Big(before).toFixed(decimalsOf(before)),
    closing: closing.toFixed(Math.max(decimalsOf(before), decimalsOf(credits), decimalsOf(debits))),
    totals: { credit_count, credits, debit_count, debits },
    lines: lines(db, coverage),
  };
}

/** The last day that a request can name. The year of the next day has five digits. */
const LAST_DAY = '9999-12-31';
const END_OF_DAYS = new Date(Date.UTC(10_000, 0, 1));

/** The first instant of the period, and the first instant after it. */
function bounds({ dateFrom, dateTo }: Coverage): [from: Date, to: Date] {
  return [startOfLondonDay(dateFrom), dateTo === LAST_DAY ? END_OF_DAYS : startOfLondonDay(addDays(dateTo, 1))];
}

interface LineRow extends Omit<StatementLine, 'credit_debit_indicator' | 'booking_datetime' | 'value_datetime'> {
  id: number;
  /** The booking moment in PostgreSQL's form. A Date would lose the microseconds that the order depends on. */
  place: string;
  booking_datetime: Date;
  value_datetime: Date;
}

async function* lines(db: Db, coverage: Coverage): AsyncGenerator<StatementLine> {
  const [from, to] = bounds(coverage);
  let place: Date | string = from;
  let id = 0;
  for (;;) {
    const { rows }: { rows: LineRow[] } = await db.query<LineRow>({
      name: 'statement-lines',
      text: `select id, booking_datetime::text as place, transaction_id, kind, amount, booking_datetime, value_datetime, transaction_reference,
           transaction_information, additional_transaction_information, creditor_name, creditor_account, debtor_name, debtor_account
         from transactions
         where client_id = $1 and currency_account_id = $2 and id <= $3 and (booking_datetime, id) > ($4, $5) and booking_datetime < $6
         order by booking_datetime, id limit ${PAGE_ROWS}`,
      values: [coverage.clientId, coverage.accountId, coverage.last, place, id, to],
    });
    for (const row of rows) yield line(row);
    const end = rows.at(-1);
    if (!end || rows.length < PAGE_ROWS) return;
    place = end.place;
    id = end.id;
  }
}

function line(row: LineRow): StatementLine {
  const { id: _id, place: _place, amount, booking_datetime, value_datetime, ...rest } = row;
  return {
    ...rest,
    credit_debit_indicator: amount.startsWith('-') ? 'Debit' : 'Credit',
    amount: amount.replace('-', ''),
    booking_datetime: londonTimestamp(booking_datetime),
    value_datetime: londonTimestamp(value_datetime),
  };
}

import type { Db } from '../database/database.ts';
import { addDays, londonDay, startOfLondonDay } from '../values/calendar.ts';
import { type Account, clientAccounts } from './account.ts';

/** Days that the chart of a balance shows, including today, and days of the small line beside each balance. */
const CHART_DAYS = 90;
const LINE_DAYS = 30;

/** A currency account of a client with its balance. Amounts are decimal strings. */
export interface AccountBalance {
  account_id: number;
  currency: string;
  balance: string;
  /** What its open holds hold. */
  held: string;
  /** What is available for orders. It may be below 0. */
  available: string;
}

/** The accounts that a client pays into, and the balance of each currency. */
export interface AccountOverview {
  accounts: Account[];
  balances: AccountBalance[];
}

export async function accountOverview(db: Db, clientId: string): Promise<AccountOverview> {
  const accounts = await clientAccounts(db, clientId);
  const balances = await db.query<AccountBalance>(
    `select account_id, currency, balance, held, balance - held as available from currency_accounts
     where client_id = $1 order by currency`,
    [clientId],
  );
  return { accounts, balances: balances.rows };
}

/** The balance of a currency account at the end of a London day, a decimal string. */
export interface DayBalance {
  day: string;
  balance: string;
}

/**
 * The balance at the end of each of the last 90 London days, and now. Each is the current balance without later bookings. Late bookings
 * count on the day that they name.
 * @returns oldest first; empty if the client has no account in the currency
 */
export async function balanceHistory(
  db: Db,
  clientId: string,
  { currency, now }: { currency: string; now: Date },
): Promise<DayBalance[]> {
  const today = londonDay(now);
  const days = Array.from({ length: CHART_DAYS }, (_, index) => addDays(today, index - CHART_DAYS + 1));
  const { rows } = await db.query<DayBalance>(
    `with account as (select a.account_id, a.balance from currency_accounts a where a.client_id = $1 and a.currency = $2),
     booked as (
       select width_bucket(t.booking_datetime, $4::timestamptz[]) as nth, sum(t.amount) as amount from account
       join transactions t on t.client_id = $1 and t.currency_account_id = account.account_id
       where t.booking_datetime >= ($4::timestamptz[])[1] group by 1)
     select d.day, trim_scale(account.balance - coalesce(sum(booked.amount) over (order by d.nth desc), 0)) as balance
     from account cross join unnest($3::text[]) with ordinality as d(day, nth) left join booked on booked.nth = d.nth order by d.nth`,
    // The end of a day is the beginning of the next one. Bookings from then on do not count.
    [clientId, currency, days, days.map((day) => startOfLondonDay(addDays(day, 1)))],
  );
  return rows;
}

/** The balance of a currency account day by day, oldest first. */
export interface BalanceLine {
  currency: string;
  balances: string[];
}

/** The balance of each currency account at the end of each of the last 30 London days, and now, calculated like `balanceHistory`. */
export async function balanceLines(db: Db, clientId: string, now: Date): Promise<BalanceLine[]> {
  const today = londonDay(now);
  const ends = Array.from({ length: LINE_DAYS }, (_, index) => startOfLondonDay(addDays(today, index - LINE_DAYS + 2)));
  const { rows } = await db.query<BalanceLine>(
    `with account as (select a.account_id, a.currency, a.balance from currency_accounts a where a.client_id = $1),
     booked as (
       select t.currency_account_id as account_id, width_bucket(t.booking_datetime, $2::timestamptz[]) as nth, sum(t.amount) as amount
       from account join transactions t on t.client_id = $1 and t.currency_account_id = account.account_id
       where t.booking_datetime >= ($2::timestamptz[])[1] group by 1, 2),
     line as (
       select account.currency, nth, trim_scale(account.balance - coalesce(sum(booked.amount)
           over (partition by account.account_id order by nth desc), 0))::text as balance
       from account cross join generate_series(1, ${LINE_DAYS}) as nth left join booked using (account_id, nth))
     select currency, array_agg(balance order by nth) as balances from line group by currency order by currency`,
    [clientId, ends],
  );
  return rows;
}

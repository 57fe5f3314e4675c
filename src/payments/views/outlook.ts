import type { Db } from '../../database/database.ts';
import { addDays } from '../../values/calendar.ts';

/** The number of days to look ahead besides today, and to look back. */
const DAYS = 14;
/** The greatest age of a payment that may have failed recently. Older ones are not examined. */
const MAX_AGE_DAYS = 90;
/** The most failed payments that are listed. */
const MAX_WRONG = 10;

/** What leaves on one day in one currency. */
export interface Leaving {
  day: string;
  currency: string;
  count: number;
  /** A decimal text. */
  amount: string;
}

/** A payment that cannot go on, or that ended without a person's decision. */
export interface Wrong {
  payment_id: string;
  what: 'information' | 'invalidated' | 'return_started' | 'returned';
  amount: string;
  payment_currency: string;
  beneficiary_name: string;
  /** Since when; null if it cannot go on at present. */
  at: Date | null;
}

/** What is to leave and what has failed, among a client's payments. */
export interface Outlook {
  /** The days ahead, beginning with today. */
  days: string[];
  leaving: Leaving[];
  wrong: Wrong[];
}

/**
 * What leaves, by day and currency. What waits for approvals is kept as totals (totals.ts); the rest is added up from an index that has the
 * amounts, so that no payment is read. $2 is today, $3 the last day.
 */
const LEAVING = `select greatest(day, $2::date)::text as day, currency, sum(n)::bigint as count, trim_scale(sum(amount))::text as amount
  from (select payment_date as day, payment_currency as currency, count(*) as n, sum(amount) as amount from payments
      where client_id = $1 and phase = 2 and status <> 'Executing Payment' and payment_date <= $3::date
      group by payment_date, payment_currency
    union all select day, payment_currency, n, amount from payment_waiting_totals
      where client_id = $1 and grain = 1 and contact_id = '' and day <= $3::date
    union all select payment_date, payment_currency, n, amount from payment_total_deltas
      where client_id = $1 and phase = 1 and payment_date <= $3::date) leaving
  group by 1, 2 having sum(n) <> 0 order by 2, 1`;

/** The last payments of a kind that went wrong. Each kind has its index, in the order of the list. */
const lastWrong = (at: string, condition: string, order: string) =>
  `(select payment_id, amount::text as amount, payment_currency, beneficiary_name, created, ${at} as at,
      case when returned then 'returned' when invalidated then 'invalidated' when return_started then 'return_started' else 'information' end as what
    from payments where client_id = $1 and ${condition} order by ${order} limit ${MAX_WRONG})`;
/** $2 is the first day of creation that counts, $3 the first day on which a payment may have ended. */
const WRONG = `select payment_id, amount, payment_currency, beneficiary_name, what, at from (
    ${lastWrong('null::timestamptz', "phase = 2 and (return_started or status = 'Need more beneficiary information')", 'created desc')}
    union all
    ${lastWrong(
      'cancelled_date',
      'phase = 5 and (invalidated or returned) and created >= $2::date and cancelled_date >= $3::date',
      'cancelled_date desc, created desc',
    )}) wrong
  order by at desc nulls first, created desc limit ${MAX_WRONG}`;

/**
 * What leaves in the next days, and what failed in the last ones. Sums are exact, and only listed payments are read, however many there are.
 * @param today the London day. Overdue payments count for it
 */
export async function readOutlook(db: Db, clientId: string, today: string): Promise<Outlook> {
  const days = Array.from({ length: DAYS + 1 }, (_, index) => addDays(today, index));
  const { rows: leaving } = await db.query<Leaving>(LEAVING, [clientId, today, days.at(-1)]);
  const since = [addDays(today, -MAX_AGE_DAYS), addDays(today, -DAYS)];
  const { rows: wrong } = await db.query<Wrong>(WRONG, [clientId, ...since]);
  return { days, leaving, wrong };
}

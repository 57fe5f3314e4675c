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
 * What leaves in the next days, and what failed in the last ones.
 * @param today the London day. Overdue payments count for it
 */
export async function readOutlook(db: Db, clientId: string, today: string): Promise<Outlook> {
  const days = Array.from({ length: DAYS + 1 }, (_, index) => addDays(today, index));
  const leaving = await db.query<Leaving>(
    `select greatest(payment_date, $2::date)::text as day, payment_currency as currency, count(*) as count,
        trim_scale(sum(amount))::text as amount
      from payments where client_id = $1 and phase in (1, 2) and payment_date <= $3::date and status <> 'Executing Payment'
      group by 1, 2 order by 2, 1`,
    [clientId, today, days.at(-1)],
  );
  const wrong = await db.query<Wrong>(
    `select payment_id, amount::text as amount, payment_currency, beneficiary_name,
        case when returned then 'returned' when invalidated then 'invalidated' when return_started then 'return_started' else 'information' end as what,
        case when phase = 5 then cancelled_date end as at
      from payments where client_id = $1
        and (phase = 2 and (return_started or status = 'Need more beneficiary information')
          or phase = 5 and created >= $2::date and (invalidated or returned) and cancelled_date >= $3::date)
      order by at desc nulls first, created desc limit ${MAX_WRONG}`,
    [clientId, addDays(today, -MAX_AGE_DAYS), addDays(today, -DAYS)],
  );
  return { days, leaving: leaving.rows, wrong: wrong.rows };
}

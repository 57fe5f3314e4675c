import { unionOfCells } from '../database/cells/union.ts';
import type { Db } from '../database/database.ts';
import { addDays, startOfLondonDay } from '../values/calendar.ts';

interface Tally {
  count: number;
  /** Decimal string. */
  sum: string;
}

/** What happened on one day to the payments and transactions of one client in one currency. */
export interface Reconciled {
  client_id: string;
  currency: string;
  created?: Tally;
  /** By the new status of the payments. */
  moved: Record<string, Tally>;
  /** By the kind of the transactions. */
  transactions: Record<string, Tally>;
}

/**
 * What happened on a London day, by the day of the change. Each transaction counts its changes when it writes them into the feed. So the
 * counts agree with the feed, and reach back at least as far as it is kept.
 * @param day `YYYY-MM-DD`
 */
export async function reconcile(db: Db, day: string): Promise<Reconciled[]> {
  const ofDay = 'from change_tallies where at >= $1 and at < $2';
  const grouped = `select client_id, tally, currency, sum(count) as count, sum(sum) as sum ${ofDay} group by client_id, tally, currency`;
  const { rows } = await db.query<{ client_id: string; tally: string; currency: string } & Tally>(
    `select client_id, tally, currency, sum(count)::bigint as count, sum(sum)::text as sum
     from (${unionOfCells(db, 'change_tallies')?.(grouped) ?? `select * ${ofDay}`}) t
     group by client_id, currency, tally order by client_id, currency, tally`,
    [startOfLondonDay(day), startOfLondonDay(addDays(day, 1))],
  );
  const reconciled = new Map<string, Reconciled>();
  for (const { client_id, currency, tally, count, sum } of rows) {
    const key = `${client_id}\0${currency}`;
    const entry: Reconciled = reconciled.get(key) ?? { client_id, currency, moved: {}, transactions: {} };
    reconciled.set(key, entry);
    const [what, which = ''] = tally.split(':', 2);
    if (what === 'created') entry.created = { count, sum };
    else if (what === 'moved') entry.moved[which] = { count, sum };
    else entry.transactions[which] = { count, sum };
  }
  return [...reconciled.values()];
}

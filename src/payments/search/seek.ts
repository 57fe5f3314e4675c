import type { SearchConditions } from './search-conditions.ts';
import type { DayRange } from './search-parameters.ts';
import { and, type SearchTable } from './search-statement.ts';
import { cellConditions, DELTA_DAY, dayConditions, GRAIN } from './totals.ts';

/** Where one table looks: conditions on the totals of a grain and on the deltas, each with ` and ` before it. */
interface Seek {
  grain: number;
  totals: string;
  /** SQL of the day of a delta. */
  day: string;
  deltas: string;
  /** SQL of the number of payments before the first day. */
  before?: string;
}

/**
 * Tables that find the day (or, among phases and currencies, the month) in which a page begins, so that a deep page does not walk past
 * everything before it. The last one, `seek (day, before)`, has one row (before: payments before that day in the order), or none if the
 * page is after the last payment. Without a range of days the month is found first: a client has few months and many days.
 * @param offset the SQL parameter of the number of payments before the page
 */
export function seekTables(
  { parameters, client, kept, search: { orderBy: basis, descending } }: SearchConditions,
  offset: string,
): SearchTable[] {
  const cells = cellConditions(kept);
  const range = kept.days?.range ?? { from: undefined, to: undefined };
  const deltaDay = DELTA_DAY[basis];
  const all = " and phase = 0 and payment_currency = ''";
  const find = ({ grain, totals, day, deltas, before = '0' }: Seek) => `select day, before from (
      select day, n, ${before} + sum(n) over (order by day${descending ? ' desc' : ''}) - n as before from (
        select day, sum(n)::bigint as n from (
          select day, n from payment_totals where client_id = ${client} and grain = ${grain}${totals}
          union all
          select ${day}, n from payment_total_deltas where client_id = ${client}${deltas}
        ) as counted group by day
      ) as days
    ) as running where before <= ${offset} and before + n > ${offset} limit 1`;
  const month = `date_trunc('month', ${deltaDay}::timestamp)::date`;
  const [ofMonth, ofDay] = [GRAIN.month[basis], GRAIN.day[basis]];
  if (cells !== '') return [['seek', find({ grain: ofMonth, totals: cells, day: month, deltas: cells })]];
  if (kept.days) {
    const totals = all + dayConditions(parameters, 'day', range);
    const deltas = dayConditions(parameters, deltaDay, range);
    return [['seek', find({ grain: ofDay, totals, day: deltaDay, deltas })]];
  }
  const inMonth = (day: string) =>
    ` and ${day} >= (select day from sought) and ${day} < (select day + interval '1 month' from sought)::date`;
  const totals = all + inMonth('day');
  const before = '(select before from sought)';
  return [
    ['sought', find({ grain: ofMonth, totals: all, day: month, deltas: '' })],
    ['seek', find({ grain: ofDay, totals, day: deltaDay, deltas: inMonth(deltaDay), before })],
  ];
}

/**
 * SQL of the first day in the order (the last one, descending) on which a payment of a range of the other date can be: a date, or null
 * if there is none. No payment of the range lies before it, but that day itself may have none.
 * @param range of the date that the search does not order by
 */
export function firstDay(
  { parameters, client, search: { orderBy: basis, descending } }: SearchConditions,
  range: DayRange,
): string {
  const other = basis === 'created' ? 'payment_date' : 'created';
  const edge = descending ? 'max' : 'min';
  const { from, to } = range;
  const touches = and([
    ...(from === undefined ? [] : [`high >= ${parameters.add(from)}::date`]),
    ...(to === undefined ? [] : [`low <= ${parameters.add(to)}::date`]),
  ]);
  const totals = (grain: number, further: string) => `(select ${edge}(day) from payment_totals
    where client_id = ${client} and grain = ${grain} and phase = 0 and payment_currency = ''${touches}${further})`;
  const month = totals(GRAIN.month[basis], '');
  const day = totals(
    GRAIN.day[basis],
    descending ? ` and day < ${month} + interval '1 month'` : ` and day >= ${month}`,
  );
  const delta = `(select ${edge}(${DELTA_DAY[basis]}) from payment_total_deltas
    where client_id = ${client}${dayConditions(parameters, DELTA_DAY[other], range)})`;
  return `${descending ? 'greatest' : 'least'}(${day}, ${delta})`;
}

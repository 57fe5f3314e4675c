import type { SearchConditions } from './search-conditions.ts';
import type { DayRange } from './search-parameters.ts';
import { and, type SearchTable } from './search-statement.ts';
import { cellConditions, DELTA_DAY, dayConditions, GRAIN } from './totals.ts';

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
  const find = (
    grain: number,
    totals: string,
    delta: string,
    deltas: string,
    before: string,
  ) => `select day, before from (
      select day, n, ${before} + sum(n) over (order by day${descending ? ' desc' : ''}) - n as before from (
        select day, sum(n)::bigint as n from (
          select day, n from payment_totals where client_id = ${client} and grain = ${grain}${totals}
          union all
          select ${delta}, n from payment_total_deltas where client_id = ${client}${deltas}
        ) as counted group by day
      ) as days
    ) as running where before <= ${offset} and before + n > ${offset} limit 1`;
  const month = `date_trunc('month', ${deltaDay}::timestamp)::date`;
  if (cells !== '') return [['seek', find(GRAIN.month[basis], cells, month, cells, '0')]];
  if (kept.days) {
    const days = dayConditions(parameters, 'day', range);
    return [['seek', find(GRAIN.day[basis], all + days, deltaDay, dayConditions(parameters, deltaDay, range), '0')]];
  }
  const inMonth = (day: string) =>
    ` and ${day} >= (select day from sought) and ${day} < (select day + interval '1 month' from sought)::date`;
  return [
    ['sought', find(GRAIN.month[basis], all, month, '', '0')],
    ['seek', find(GRAIN.day[basis], all + inMonth('day'), deltaDay, inMonth(deltaDay), '(select before from sought)')],
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

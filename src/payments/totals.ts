import { addDays } from '../calendar.ts';
import { type Pool, transaction } from '../database.ts';
import { LOCKS } from '../locks.ts';
import type { DayRange } from './search-parameters.ts';
import { ALL_PHASES, and, type Basis, inDays, type Parameters } from './search-statement.ts';

/**
 * The totals behind x-total-count. Triggers append what each statement changed to payment_total_deltas. A background job rolls the
 * deltas up into payment_totals. A total is the sum of both, read in one statement, and so exact at every moment (docs/search.md).
 */

/** Deltas that one statement rolls up. */
const ROLL_UP_BATCH_ROWS = 50_000;
const NOTHING = { payments: 0, approvers: 0 };

/**
 * Rolls up the deltas since the last call and returns how many there were. Any number of processes may call it: one of them works
 * and the others return 0 at once. Reads and writes go on meanwhile.
 */
export async function rollUpTotals(pool: Pool): Promise<number> {
  let rolledUp = 0;
  for (;;) {
    const batch = await transaction(pool, async (tx) => {
      const lock = await tx.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [
        LOCKS.paymentTotals,
      ]);
      if (!lock.rows[0]?.mine) return NOTHING;
      const { rows } = await tx.query<{ payments: number; approvers: number }>(
        'select roll_up_payment_totals($1) as payments, roll_up_payment_approver_totals($1) as approvers',
        [ROLL_UP_BATCH_ROWS],
      );
      return rows[0] ?? NOTHING;
    });
    rolledUp += batch.payments + batch.approvers;
    if (Math.max(batch.payments, batch.approvers) < ROLL_UP_BATCH_ROWS) return rolledUp;
  }
}

/** What a total can be kept for. */
export interface Kept {
  phases: readonly number[] | undefined;
  /** The SQL parameters of the currencies, one each. */
  currencies: string[] | undefined;
  days: { basis: Basis; range: DayRange } | undefined;
}

/** Rows of payment_totals (migrations/0005_payment_search.sql). */
const GRAIN = { all: 0, month: { created: 1, payment_date: 2 }, day: { created: 3, payment_date: 4 } } as const;
const DELTA_DAY = { created: 'created_day', payment_date: 'payment_date' } as const;

/** SQL of the number of payments (an expression). @param client the SQL parameter of the client's id */
export function keptTotal(parameters: Parameters, client: string, kept: Kept): string {
  const cells = cellConditions(kept);
  if (!kept.days) return sums(client, `grain = ${GRAIN.all}${cells}`, cells);
  const { basis, range } = kept.days;
  const { months, edges } = wholeMonths(range);
  if (cells === '') {
    const all = "phase = 0 and payment_currency = ''";
    const days = edges.map((edge) => `grain = ${GRAIN.day[basis]} and ${all}${dayConditions(parameters, 'day', edge)}`);
    if (months) days.push(`grain = ${GRAIN.month[basis]} and ${all}${dayConditions(parameters, 'day', months)}`);
    if (days.length === 0) return '0';
    const kept = days.map(
      (each) => `(select coalesce(sum(n), 0) from payment_totals where client_id = ${client} and ${each})`,
    );
    return `(${kept.join(' + ')} + ${deltaSum(client, dayConditions(parameters, DELTA_DAY[basis], range))})::bigint`;
  }
  const parts = edges.map(
    (edge) => `(select count(*) from payments where client_id = ${client}${cells}${inDays(parameters, basis, edge)})`,
  );
  if (months) {
    const month = `grain = ${GRAIN.month[basis]}${cells}${dayConditions(parameters, 'day', months)}`;
    parts.push(sums(client, month, cells + dayConditions(parameters, DELTA_DAY[basis], months)));
  }
  return parts.length === 0 ? '0' : parts.join(' + ');
}

function sums(client: string, total: string, delta: string, table = 'payment_totals'): string {
  return `((select coalesce(sum(n), 0) from ${table} where client_id = ${client} and ${total})
    + ${deltaSum(client, delta)})::bigint`;
}

function deltaSum(client: string, conditions: string): string {
  return `(select coalesce(sum(n), 0) from payment_total_deltas where client_id = ${client}${conditions})`;
}

function cellConditions({ phases, currencies }: Kept): string {
  if (!phases && !currencies) return '';
  const currency = currencies && `payment_currency in (${currencies.join(', ')})`;
  return and([`phase in (${(phases ?? ALL_PHASES).join(', ')})`, ...(currency ? [currency] : [])]);
}

function dayConditions(parameters: Parameters, column: string, { from, to }: DayRange): string {
  const conditions: string[] = [];
  if (from !== undefined) conditions.push(`${column} >= ${parameters.add(from)}::date`);
  if (to !== undefined) conditions.push(`${column} <= ${parameters.add(to)}::date`);
  return and(conditions);
}

/**
 * A range of days as its whole months and what is left at its ends: months are kept, the ends are counted.
 * A range that ends before it begins has neither.
 */
export function wholeMonths({ from, to }: DayRange): { months: DayRange | undefined; edges: DayRange[] } {
  if (from !== undefined && to !== undefined && from > to) return { months: undefined, edges: [] };
  const first = from === undefined || from.endsWith('-01') ? from : firstOfNextMonth(from);
  const last = to === undefined || firstOfNextMonth(to) === addDays(to, 1) ? to : addDays(`${to.slice(0, 7)}-01`, -1);
  if (first === null || (first !== undefined && last !== undefined && first > last))
    return { months: undefined, edges: [{ from, to }] };
  const edges: DayRange[] = [];
  if (first !== from) edges.push({ from, to: addDays(first as string, -1) });
  if (last !== to) edges.push({ from: addDays(last as string, 1), to });
  return { months: { from: first, to: last }, edges };
}

/** The first day of the month after a day's, or null behind the last month that can be written. */
function firstOfNextMonth(day: string): string | null {
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))];
  if (year === 9999 && month === 12) return null;
  return month === 12
    ? `${String(year + 1).padStart(4, '0')}-01-01`
    : `${day.slice(0, 4)}-${String(month + 1).padStart(2, '0')}-01`;
}

/**
 * SQL of the number of payments whose amount is over or below a whole number: the sum of the buckets beside the amount's own, and
 * a count within that one. No payment's amount is negative, so that buckets are in the order of the amounts.
 */
export function keptAmountTotal(
  parameters: Parameters,
  client: string,
  range: 'over' | 'below',
  value: number,
): string {
  const width = 10 ** Math.max(0, String(Math.abs(value)).length - 2);
  const start = Math.floor(value / width) * width;
  const limit = `${parameters.add(value)}::numeric`;
  const bound = `${parameters.add(range === 'over' ? start + width : start)}::numeric`;
  const [bucket, own] =
    range === 'over'
      ? [`bucket >= ${bound}`, `amount > ${limit} and amount < ${bound}`]
      : [`bucket < ${bound}`, `amount >= ${bound} and amount < ${limit}`];
  return `${sums(client, bucket, ` and ${bucket}`, 'payment_amount_totals')}
    + (select count(*) from payments where client_id = ${client} and ${own})`;
}

/** SQL of the number of payments to a beneficiary (an SQL parameter). */
export function keptBeneficiaryTotal(client: string, beneficiary: string): string {
  const own = `beneficiary_id = ${beneficiary}`;
  return sums(client, own, ` and ${own}`, 'payment_beneficiary_totals');
}

/** SQL of the number of payments that a contact may authorise now. */
export function keptApprovals(client: string, contact: string): string {
  const own = `where client_id = ${client} and contact_id = ${contact}`;
  return `((select coalesce(sum(n), 0) from payment_approver_totals ${own})
    + (select coalesce(sum(n), 0) from payment_approver_deltas ${own}))`;
}

/**
 * Tables that find the day (or, among phases and currencies, the month) in which a page begins, so that a deep page does not walk
 * past everything before it. The last, `seek (day, before)`, has one row (before: payments before that day in the order), or none
 * where the page is behind the end. Without a range of days the month is found first: a client's months are few, its days many.
 * @param offset the SQL parameter of the number of payments before the page
 */
export function seekTables(
  parameters: Parameters,
  client: string,
  kept: Kept,
  basis: Basis,
  descending: boolean,
  offset: string,
): [name: string, sql: string][] {
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
 * SQL of the first day of the order (the last, descending) on which a payment of a range of the other date can be: a date, or null
 * where there is none. Not every such day has one; no payment of the range lies before it.
 * @param basis the date that is ordered by; the range is of the other one
 */
export function firstDay(
  parameters: Parameters,
  client: string,
  basis: Basis,
  descending: boolean,
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

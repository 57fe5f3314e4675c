import { lockIn } from '../../database/cells/connection.ts';
import { type Pool, transaction } from '../../database/database.ts';
import { LOCKS } from '../../database/locks.ts';
import { addDays } from '../../values/calendar.ts';
import { mayApprove } from '../viewer-permissions.ts';
import type { DayRange } from './search-parameters.ts';
import { ALL_PHASES, and, type Basis, inDays, type Parameters } from './search-statement.ts';

/**
 * The totals behind x-total-count. Triggers append what each statement changed to payment_total_deltas. A background job rolls the deltas
 * up into payment_totals. A total is the sum of both, read in one statement, so it is exact at every moment (docs/search.md).
 */

/** What a total is kept for. */
export interface Kept {
  phases: readonly number[] | undefined;
  /** An SQL parameter for each currency. */
  currencies: string[] | undefined;
  days: { basis: Basis; range: DayRange } | undefined;
}

/** The grains of payment_totals (migrations/0005_payment_search.sql). */
export const GRAIN = { all: 0, month: { created: 1, payment_date: 2 }, day: { created: 3, payment_date: 4 } } as const;
/** The column of payment_total_deltas with the day. */
export const DELTA_DAY = { created: 'created_day', payment_date: 'payment_date' } as const;

/** An SQL expression for the number of payments. @param client the SQL parameter of the client's id */
export function keptTotal(parameters: Parameters, client: string, kept: Kept): string {
  const cells = cellConditions(kept);
  if (!kept.days) return keptSum(client, { total: `grain = ${GRAIN.all}${cells}`, delta: cells });
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
    parts.push(keptSum(client, { total: month, delta: cells + dayConditions(parameters, DELTA_DAY[basis], months) }));
  }
  return parts.length === 0 ? '0' : parts.join(' + ');
}

/** SQL for the sum of rolled-up rows and the deltas since. @param cells the conditions on the rows of `table` and on the deltas */
function keptSum(client: string, cells: { table?: string; total: string; delta: string }): string {
  const { table = 'payment_totals', total, delta } = cells;
  return `((select coalesce(sum(n), 0) from ${table} where client_id = ${client} and ${total})
    + ${deltaSum(client, delta)})::bigint`;
}

function deltaSum(client: string, conditions: string): string {
  return `(select coalesce(sum(n), 0) from payment_total_deltas where client_id = ${client}${conditions})`;
}

export function cellConditions({ phases, currencies }: Kept): string {
  if (!phases && !currencies) return '';
  const currency = currencies && `payment_currency in (${currencies.join(', ')})`;
  return and([`phase in (${(phases ?? ALL_PHASES).join(', ')})`, ...(currency ? [currency] : [])]);
}

export function dayConditions(parameters: Parameters, column: string, { from, to }: DayRange): string {
  const conditions: string[] = [];
  if (from !== undefined) conditions.push(`${column} >= ${parameters.add(from)}::date`);
  if (to !== undefined) conditions.push(`${column} <= ${parameters.add(to)}::date`);
  return and(conditions);
}

/**
 * SQL for the number of payments whose amount is above or below a whole number. It adds the totals of whole buckets to a count within the
 * amount's own bucket. No amount is negative, so buckets sort like amounts.
 */
export function keptAmountTotal(
  parameters: Parameters,
  client: string,
  { range, value }: { range: 'over' | 'below'; value: number },
): string {
  const width = 10 ** Math.max(0, String(Math.abs(value)).length - 2);
  const start = Math.floor(value / width) * width;
  const limit = `${parameters.add(value)}::numeric`;
  const bound = `${parameters.add(range === 'over' ? start + width : start)}::numeric`;
  const [bucket, own] =
    range === 'over'
      ? [`bucket >= ${bound}`, `amount > ${limit} and amount < ${bound}`]
      : [`bucket < ${bound}`, `amount >= ${bound} and amount < ${limit}`];
  return `${keptSum(client, { table: 'payment_amount_totals', total: bucket, delta: ` and ${bucket}` })}
    + (select count(*) from payments where client_id = ${client} and ${own})`;
}

/** SQL for the number of payments to a beneficiary (an SQL parameter). */
export function keptBeneficiaryTotal(client: string, beneficiary: string): string {
  const own = `beneficiary_id = ${beneficiary}`;
  return keptSum(client, { table: 'payment_beneficiary_totals', total: own, delta: ` and ${own}` });
}

/** SQL for the number of payments that a contact may authorise now. */
export function keptApprovals(client: string, contact: string): string {
  const own = `where client_id = ${client} and contact_id = ${contact}`;
  return `(case when ${mayApprove(client, contact)} then (select coalesce(sum(n), 0) from payment_approver_totals ${own} and grain = 0)
    + (select coalesce(sum(n), 0) from payment_approver_deltas ${own}) else 0 end)`;
}

/** The number of deltas that one statement rolls up. */
const MAX_BATCH_ROWS = 50_000;
const NOTHING = { payments: 0, approvers: 0, allocations: 0, trades: 0 };

/**
 * Rolls up the deltas since the last call and returns their number. Any number of processes may call it: one works, and the others return 0
 * at once. Reads and writes go on meanwhile.
 */
export async function rollUpTotals(pool: Pool): Promise<number> {
  let rolledUp = 0;
  for (;;) {
    const batch = await transaction(pool, async (tx) => {
      const lock = await tx.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [
        lockIn(tx, LOCKS.paymentTotals),
      ]);
      if (!lock.rows[0]?.mine) return NOTHING;
      const { rows } = await tx.query<typeof NOTHING>(
        `select roll_up_payment_totals($1) as payments, roll_up_payment_approver_totals($1) as approvers,
           roll_up_trade_allocations($1) as allocations, roll_up_trade_totals($1) as trades`,
        [MAX_BATCH_ROWS],
      );
      return rows[0] ?? NOTHING;
    });
    const taken = Object.values(batch);
    rolledUp += taken.reduce((sum, each) => sum + each, 0);
    if (Math.max(...taken) < MAX_BATCH_ROWS) return rolledUp;
  }
}

/**
 * Splits a range of days into its whole months, whose totals are kept, and the days at its ends, which are counted. A range that ends
 * before it begins has neither.
 */
export function wholeMonths({ from, to }: DayRange): { months: DayRange | undefined; edges: DayRange[] } {
  if (from !== undefined && to !== undefined && from > to) return { months: undefined, edges: [] };
  const first = from === undefined || from.endsWith('-01') ? from : firstOfNextMonth(from);
  const last = to === undefined || firstOfNextMonth(to) === addDays(to, 1) ? to : lastOfFormerMonth(to);
  if (first === null || last === null || (first !== undefined && last !== undefined && first > last))
    return { months: undefined, edges: [{ from, to }] };
  const edges: DayRange[] = [];
  if (first !== from) edges.push({ from, to: addDays(first as string, -1) });
  if (last !== to) edges.push({ from: addDays(last as string, 1), to });
  return { months: { from: first, to: last }, edges };
}

/** The first day of the month after a day's month, or null after the last month that can be written. */
function firstOfNextMonth(day: string): string | null {
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))];
  if (year === 9999 && month === 12) return null;
  return month === 12
    ? `${String(year + 1).padStart(4, '0')}-01-01`
    : `${day.slice(0, 4)}-${String(month + 1).padStart(2, '0')}-01`;
}

/** The last day of the month before a day's month, or null before the first month that can be written. */
function lastOfFormerMonth(day: string): string | null {
  return day < '0001-02-01' ? null : addDays(`${day.slice(0, 7)}-01`, -1);
}

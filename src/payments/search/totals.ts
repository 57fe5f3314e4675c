import { mayApprove } from '../viewer-permissions.ts';
import type { DayRange } from './search-parameters.ts';
import { ALL_PHASES, and, type Basis, inDays, type Parameters } from './search-statement.ts';
import { wholeMonths } from './whole-months.ts';

/**
 * The totals behind x-total-count. Triggers append what each statement changed to payment_total_deltas. A background job rolls the
 * deltas up into payment_totals. A total is the sum of both, read in one statement, and so exact at every moment (docs/search.md).
 */

/** What a total can be kept for. */
export interface Kept {
  phases: readonly number[] | undefined;
  /** The SQL parameters of the currencies, one each. */
  currencies: string[] | undefined;
  days: { basis: Basis; range: DayRange } | undefined;
}

/** Rows of payment_totals (migrations/0005_payment_search.sql). */
export const GRAIN = { all: 0, month: { created: 1, payment_date: 2 }, day: { created: 3, payment_date: 4 } } as const;
/** The column of payment_total_deltas that has the day. */
export const DELTA_DAY = { created: 'created_day', payment_date: 'payment_date' } as const;

/** SQL of the number of payments (an expression). @param client the SQL parameter of the client's id */
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

/** SQL of rolled-up rows and the deltas since. @param cells the conditions of the rows of `table` and of the deltas */
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
 * SQL of the number of payments whose amount is over or below a whole number: the sum of the other buckets, and a count within the
 * bucket of the amount itself. No payment's amount is negative, so buckets sort like amounts.
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

/** SQL of the number of payments to a beneficiary (an SQL parameter). */
export function keptBeneficiaryTotal(client: string, beneficiary: string): string {
  const own = `beneficiary_id = ${beneficiary}`;
  return keptSum(client, { table: 'payment_beneficiary_totals', total: own, delta: ` and ${own}` });
}

/** SQL of the number of payments that a contact may authorise now. */
export function keptApprovals(client: string, contact: string): string {
  const own = `where client_id = ${client} and contact_id = ${contact}`;
  return `(case when ${mayApprove(client, contact)} then (select coalesce(sum(n), 0) from payment_approver_totals ${own} and grain = 0)
    + (select coalesce(sum(n), 0) from payment_approver_deltas ${own}) else 0 end)`;
}

import { addDays, startOfLondonDay } from '../../values/calendar.ts';
import type { DayRange } from './search-parameters.ts';

/** The number of the phase that each group of statuses has (migrations/0004_payments.sql). */
export const PHASES = { pendingAuthorisation: 1, inProgress: 2, complete: 3, rejected: 4, cancelled: 5 } as const;
export const ALL_PHASES = [1, 2, 3, 4, 5];

export type Basis = 'created' | 'payment_date';

/** The last day that can be written as YYYY-MM-DD. A range up to it has no end. */
const LAST_DAY = '9999-12-31';

/** A table in a search's `with`. */
export type SearchTable = [name: string, sql: string];

/** The plan of a search: its tables, including `t (total)`, and its page, which is rows of payments. */
export interface SearchPlan {
  tables: SearchTable[];
  page: string;
}

/** Collects the values of a statement while its text is built. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Adds a value and returns its SQL parameter, such as `$3`. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/**
 * Conditions for a range of days. London days on `created` are compared as instants, so that the index serves them.
 * @param column what is compared: the date itself, or an expression of it that no index serves
 */
export function inDays(parameters: Parameters, basis: Basis, range: DayRange, column: string = basis): string {
  const { from, to } = range;
  const conditions: string[] = [];
  if (basis === 'payment_date') {
    if (from !== undefined) conditions.push(`${column} >= ${parameters.add(from)}::date`);
    if (to !== undefined) conditions.push(`${column} <= ${parameters.add(to)}::date`);
  } else {
    if (from !== undefined)
      conditions.push(`${column} >= ${parameters.add(startOfLondonDay(from).toISOString())}::timestamptz`);
    if (to !== undefined && to < LAST_DAY) {
      conditions.push(`${column} < ${parameters.add(startOfLondonDay(addDays(to, 1)).toISOString())}::timestamptz`);
    }
  }
  return and(conditions);
}

/** Joins conditions so that they can follow other conditions. */
export function and(conditions: string[]): string {
  return conditions.map((condition) => ` and ${condition}`).join('');
}

/** The most prepared statements that a process names. Each costs memory in each connection, so rare combinations get none. */
const MAX_STATEMENTS = 300;
/** Page sizes whose statements are prepared. Any other size works too, but is planned at each call. */
const PREPARED_PAGE_SIZES = new Set([10, 20, 25, 50, 100, 200, 250, 500, 1_000]);

const names = new Map<string, string>();

/** The name of a prepared statement, or undefined if preparing it is not worth it. */
export function statementName(text: string, pageSize: number): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_STATEMENTS || !PREPARED_PAGE_SIZES.has(pageSize)) return known;
  const name = `payments_search_${names.size + 1}`;
  names.set(text, name);
  return name;
}

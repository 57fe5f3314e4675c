import { addDays } from '../../values/calendar.ts';
import type { DayRange } from './search-parameters.ts';

/**
 * Splits a range of days into its whole months, whose totals are kept, and the days at its ends, which are counted.
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

/** The first day of the month after a day's, or null after the last month that can be written. */
function firstOfNextMonth(day: string): string | null {
  const [year, month] = [Number(day.slice(0, 4)), Number(day.slice(5, 7))];
  if (year === 9999 && month === 12) return null;
  return month === 12
    ? `${String(year + 1).padStart(4, '0')}-01-01`
    : `${day.slice(0, 4)}-${String(month + 1).padStart(2, '0')}-01`;
}

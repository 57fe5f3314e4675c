import { addDays, instantIn, isoWeekday, londonDay } from '../values/calendar.ts';

/** On which days banks work, and until when: pure rules. Today is the London day. */

/** The days on which a currency is not settled. */
export interface BusinessCalendar {
  /** Days of the week, as ISO 8601 counts: 6 is Saturday. At most six of them. */
  weekend: readonly number[];
  holidays: readonly { date: string }[];
}

/** Until when an order of today is still of today. */
export interface Cutoff {
  /** `HH:MM`; null: all day. */
  time: string | null;
  /** A zone of the IANA database, in which the time is. */
  zone: string;
}

/** Why a day is closed; undefined where it is a business day. */
export function closedBy(day: string, { weekend, holidays }: BusinessCalendar): 'weekend' | 'holiday' | undefined {
  if (holidays.some(({ date }) => date === day)) return 'holiday';
  return weekend.includes(isoWeekday(day)) ? 'weekend' : undefined;
}

/** Why a day is closed, in words: `is a holiday of EUR`; undefined where it is a business day of all. */
export function closedWords(
  day: string,
  ...calendars: readonly (BusinessCalendar & { currency: string })[]
): string | undefined {
  for (const calendar of calendars) {
    const closed = closedBy(day, calendar);
    if (closed) return `is a ${closed === 'weekend' ? 'weekend day' : closed} of ${calendar.currency}`;
  }
  return undefined;
}

/** Days from today to the last day that an order can ask for. */
export const MAX_DAYS_AHEAD = 366;
/** Two calendars may have no business day together. A day so far away can be no order's. */
const MAX_SEARCHED_DAYS = 2 * MAX_DAYS_AHEAD;

/** The first business day that is not before a day, of all the calendars; without one the day 732 days later. */
export function nextBusinessDay(day: string, ...calendars: readonly BusinessCalendar[]): string {
  let next = day;
  for (let days = 0; days < MAX_SEARCHED_DAYS && calendars.some((calendar) => closedBy(next, calendar)); days += 1)
    next = addDays(next, 1);
  return next;
}

/** The business day of all the calendars that is so many of them after a day. */
export function afterBusinessDays(day: string, days: number, ...calendars: readonly BusinessCalendar[]): string {
  let next = day;
  for (let passed = 0; passed < days; passed += 1) next = nextBusinessDay(addDays(next, 1), ...calendars);
  return next;
}

/** Whether the cut-off of today has passed: it has at its minute. */
export function isPast({ time, zone }: Cutoff, now: Date): boolean {
  return time !== null && now >= instantIn(zone, londonDay(now), time);
}

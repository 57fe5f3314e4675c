import { addDays, instantIn, isoWeekday, londonDay } from '../values/calendar.ts';

/** On which days banks work, and until when. Pure rules; today is the London day. */

/** The days on which a currency is not settled. */
export interface BusinessCalendar {
  /** Days of the week, numbered as in ISO 8601: 6 is Saturday. At most six of them. */
  weekend: readonly number[];
  holidays: readonly { date: string }[];
}

/** Until when an order of today still counts as of today. */
export interface Cutoff {
  /** `HH:MM`; null: all day. */
  time: string | null;
  /** A zone of the IANA database, in which the time is given. */
  zone: string;
}

/** Why a day is closed; undefined if it is a business day. */
export function closedBy(day: string, { weekend, holidays }: BusinessCalendar): 'weekend' | 'holiday' | undefined {
  if (holidays.some(({ date }) => date === day)) return 'holiday';
  return weekend.includes(isoWeekday(day)) ? 'weekend' : undefined;
}

/** Why a day is closed, in words such as `is a holiday of EUR`. Undefined if it is a business day in all calendars. */
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

/** Days from today to the last day that an order may name. */
export const MAX_DAYS_AHEAD = 366;
/** Two calendars may have no common business day. No order can be for a day so far away. */
const MAX_SEARCHED_DAYS = 2 * MAX_DAYS_AHEAD;

/** The first business day of all the calendars on or after a day. If there is none, the day 732 days later. */
export function nextBusinessDay(day: string, ...calendars: readonly BusinessCalendar[]): string {
  let next = day;
  for (let days = 0; days < MAX_SEARCHED_DAYS && calendars.some((calendar) => closedBy(next, calendar)); days += 1)
    next = addDays(next, 1);
  return next;
}

/** The day that is a number of common business days of all the calendars after a day. */
export function afterBusinessDays(day: string, days: number, ...calendars: readonly BusinessCalendar[]): string {
  let next = day;
  for (let passed = 0; passed < days; passed += 1) next = nextBusinessDay(addDays(next, 1), ...calendars);
  return next;
}

/** Whether today's cut-off has passed. At its minute it has. */
export function isPast({ time, zone }: Cutoff, now: Date): boolean {
  return time !== null && now >= instantIn(zone, londonDay(now), time);
}

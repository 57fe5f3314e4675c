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

/** The first business day that is not before a day, of all the calendars. */
export function nextBusinessDay(day: string, ...calendars: readonly BusinessCalendar[]): string {
  let next = day;
  while (calendars.some((calendar) => closedBy(next, calendar))) next = addDays(next, 1);
  return next;
}

/** Whether the cut-off of today has passed: it has at its minute. */
export function isPast({ time, zone }: Cutoff, now: Date): boolean {
  return time !== null && now >= instantIn(zone, londonDay(now), time);
}

import { addDays, isoWeekday } from '../../values/calendar.ts';

/** Holidays of the demonstration's currencies, as observed by their payment systems. Days are texts in the form YYYY-MM-DD. */

export interface Holiday {
  date: string;
  name: string;
}

const MONDAY = 1;
const THURSDAY = 4;
const SATURDAY = 6;
const SUNDAY = 7;

/** The holidays of a currency in a year, in order. */
export const HOLIDAYS: Record<'EUR' | 'GBP' | 'USD', (year: number) => Holiday[]> = {
  EUR: (year) => [
    { date: day(year, 1, 1), name: "New Year's Day" },
    { date: addDays(easter(year), -2), name: 'Good Friday' },
    { date: addDays(easter(year), 1), name: 'Easter Monday' },
    { date: day(year, 5, 1), name: 'Labour Day' },
    { date: day(year, 12, 25), name: 'Christmas Day' },
    { date: day(year, 12, 26), name: '26 December' },
  ],
  GBP: (year) => [
    { date: afterWeekend(day(year, 1, 1)), name: "New Year's Day" },
    { date: addDays(easter(year), -2), name: 'Good Friday' },
    { date: addDays(easter(year), 1), name: 'Easter Monday' },
    { date: weekdayOfMonth(year, 5, MONDAY, 1), name: 'Early May bank holiday' },
    { date: lastWeekday(year, 5, MONDAY), name: 'Spring bank holiday' },
    { date: lastWeekday(year, 8, MONDAY), name: 'Summer bank holiday' },
    { date: afterWeekend(day(year, 12, 25)), name: 'Christmas Day' },
    { date: afterWeekend(addDays(afterWeekend(day(year, 12, 25)), 1)), name: 'Boxing Day' },
  ],
  USD: (year) => [
    { date: afterSunday(day(year, 1, 1)), name: "New Year's Day" },
    { date: weekdayOfMonth(year, 1, MONDAY, 3), name: 'Birthday of Martin Luther King, Jr.' },
    { date: weekdayOfMonth(year, 2, MONDAY, 3), name: "Washington's Birthday" },
    { date: lastWeekday(year, 5, MONDAY), name: 'Memorial Day' },
    { date: afterSunday(day(year, 6, 19)), name: 'Juneteenth' },
    { date: afterSunday(day(year, 7, 4)), name: 'Independence Day' },
    { date: weekdayOfMonth(year, 9, MONDAY, 1), name: 'Labor Day' },
    { date: weekdayOfMonth(year, 10, MONDAY, 2), name: 'Columbus Day' },
    { date: afterSunday(day(year, 11, 11)), name: 'Veterans Day' },
    { date: weekdayOfMonth(year, 11, THURSDAY, 4), name: 'Thanksgiving Day' },
    { date: afterSunday(day(year, 12, 25)), name: 'Christmas Day' },
  ],
};

function day(year: number, month: number, dayOfMonth: number): string {
  return [year, month, dayOfMonth].map((part) => String(part).padStart(2, '0')).join('-');
}

/** Easter Sunday (the algorithm of Meeus, Jones and Butcher, with its letters). */
function easter(year: number): string {
  const whole = Math.floor;
  const [a, b, c] = [year % 19, whole(year / 100), year % 100];
  const g = whole((b - whole((b + 8) / 25) + 1) / 3);
  const h = (19 * a + b - whole(b / 4) - g + 15) % 30;
  const l = (32 + 2 * (b % 4) + 2 * whole(c / 4) - h - (c % 4)) % 7;
  const n = h + l - 7 * whole((a + 11 * h + 22 * l) / 451) + 114;
  return day(year, whole(n / 31), (n % 31) + 1);
}

/** The nth given weekday of a month. */
function weekdayOfMonth(year: number, month: number, weekday: number, nth: number): string {
  const first = day(year, month, 1);
  return addDays(first, ((weekday - isoWeekday(first) + 7) % 7) + (nth - 1) * 7);
}

function lastWeekday(year: number, month: number, weekday: number): string {
  const fifth = weekdayOfMonth(year, month, weekday, 5);
  return fifth.startsWith(day(year, month, 1).slice(0, 7)) ? fifth : addDays(fifth, -7);
}

/** The following Monday if the day is on a weekend. */
function afterWeekend(date: string): string {
  const weekday = isoWeekday(date);
  return weekday < SATURDAY ? date : addDays(date, 8 - weekday);
}

/** The following Monday if the day is a Sunday. */
function afterSunday(date: string): string {
  return isoWeekday(date) === SUNDAY ? addDays(date, 1) : date;
}

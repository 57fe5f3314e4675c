import {
  type BusinessCalendar,
  type Cutoff,
  closedWords,
  isPast,
  MAX_DAYS_AHEAD,
  nextBusinessDay,
} from '../exchange/business-days.ts';
import type { CurrencySettings } from '../exchange/currency.ts';
import { addDays, daysBetween, londonDay } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import type { SchemeRule } from './schemes.ts';

/** Determines on which day a payment leaves. Pure rules. */

const NO_CALENDAR: BusinessCalendar = { weekend: [], holidays: [] };

/** What determines the days on which a payment can leave. */
interface Open {
  currency: Pick<CurrencySettings, 'currency' | 'weekend' | 'holidays' | 'cutoff_time' | 'cutoff_timezone'>;
  /** The rule of its scheme (`schemeRuleFor`). */
  rule: Pick<SchemeRule, 'cutoff_time' | 'cutoff_timezone' | 'every_day'>;
  /** When the trade that pays for it matures. */
  maturity: Date | null;
  now: Date;
}

/** What the date of a payment depends on. */
interface Dated extends Open {
  /** `YYYY-MM-DD` */
  asked: string;
  /** The path of the day in the request, for a refusal. */
  field?: string;
}

/** The days on which a payment can leave. */
interface OpenDays {
  today: string;
  calendar: BusinessCalendar;
  cutoff: Cutoff;
  /** The London day of the trade's maturity; today without a trade. */
  ripe: string;
  /** No day before this one is possible. It may itself be closed. */
  earliest: string;
}

/** The days on which a payment can leave, whatever day is requested. */
export function openDays({ currency, rule, maturity, now }: Open): OpenDays {
  const today = londonDay(now);
  const cutoff = cutoffOf(rule, currency);
  const ripe = maturity ? londonDay(maturity) : today;
  const earliest = later(isPast(cutoff, now) ? addDays(today, 1) : today, ripe);
  return { today, calendar: rule.every_day ? NO_CALENDAR : currency, cutoff, ripe, earliest };
}

/** The day on which a payment leaves. */
export interface PaymentDate {
  date: string;
  /** Why the day differs from the requested one; null if it does not. */
  warning: string | null;
}

/** Requires that a day is not too far away. @param field that names the day @throws Problem invalid_body */
export function requireNear(day: string, now: Date, field = 'payment_date'): string {
  const today = londonDay(now);
  if (daysBetween(today, day) <= MAX_DAYS_AHEAD) return day;
  throw new Problem('invalid_body', {
    field,
    message: `must be at most ${MAX_DAYS_AHEAD} days from today, ${today}`,
  });
}

/**
 * The day on which a payment leaves: the requested one, or the first possible one after it.
 * @throws Problem invalid_body if it is more than 366 days from today
 */
export function paymentDate({ asked, field = 'payment_date', ...open }: Dated): PaymentDate {
  const { currency } = open;
  const { today, calendar, cutoff, ripe, earliest } = openDays(open);
  const inTime = (day: string) => requireNear(day, open.now, field);
  const date = inTime(nextBusinessDay(later(inTime(asked), earliest), calendar));
  if (date === asked) return { date, warning: null };
  const reason =
    asked < today
      ? 'is in the past'
      : (closedWords(asked, { ...calendar, currency: currency.currency }) ??
        (asked < ripe ? `is before the maturity of the trade, ${ripe}` : `is past the cut-off, ${written(cutoff)}`));
  return { date, warning: `payment_date: ${asked} ${reason}; ${date} is used` };
}

/** The cut-off of a scheme, or of the currency if the scheme has none. */
function cutoffOf(rule: Open['rule'], currency: Open['currency']): Cutoff {
  const { cutoff_time: time, cutoff_timezone: zone } = rule.cutoff_time === null ? currency : rule;
  return { time, zone };
}

function later(one: string, other: string): string {
  return one > other ? one : other;
}

function written({ time, zone }: Cutoff): string {
  return `${time} ${zone}`;
}

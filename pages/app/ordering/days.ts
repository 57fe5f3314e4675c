import type { PayableDays } from '../../data/ordering.ts';
import type { TextKey } from '../../texts/keys.ts';

/** A message about a day, with its values. */
export interface SaidOfDay {
  key: TextKey;
  values: Record<string, string>;
}

/** Why a day cannot be chosen; undefined if it can. @param day `YYYY-MM-DD` */
export function closedDay(days: PayableDays, day: string): SaidOfDay | undefined {
  const { today, latest, weekend, holidays } = days;
  const holiday = holidays.find(({ date }) => date === day);
  if (holiday) return { key: 'order.day.holiday', values: { name: holiday.name ?? '' } };
  if (weekend.includes(weekday(day))) return { key: 'order.day.weekend', values: {} };
  if (day < today) return { key: 'order.day.past', values: {} };
  if (day > latest) return { key: 'order.day.far', values: {} };
  return undefined;
}

/** The time until which a payment still leaves today, or that it is too late. */
export function cutoffWords({ today, earliest, cutoff, late }: PayableDays, zone: string): SaidOfDay | undefined {
  if (!cutoff) return undefined;
  const { time } = cutoff;
  if (earliest > today) return late === 'cutoff' ? { key: 'order.day.cutoffPast', values: { time } } : undefined;
  if (cutoff.zone === zone) return { key: 'order.day.cutoff', values: { time } };
  return { key: 'order.day.cutoffIn', values: { time, place: cutoff.zone.replace(/^.*\//, '').replaceAll('_', ' ') } };
}

/** The day of the week in ISO 8601: 7 is Sunday. */
function weekday(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay() || 7;
}

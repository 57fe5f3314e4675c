import type { PayableDays } from '../../data/ordering.ts';
import type { TextKey } from '../../texts/keys.ts';

/** What is said of a day, with what the text names. */
export interface SaidOfDay {
  key: TextKey;
  values: Record<string, string>;
}

/** Why nobody can choose a day. @param day `YYYY-MM-DD` */
export function closedDay(days: PayableDays, day: string): SaidOfDay | undefined {
  const { today, latest, weekend, holidays } = days;
  const holiday = holidays.find(({ date }) => date === day);
  if (holiday) return { key: 'order.day.holiday', values: { name: holiday.name ?? '' } };
  if (weekend.includes(weekday(day))) return { key: 'order.day.weekend', values: {} };
  if (day < today) return { key: 'order.day.past', values: {} };
  if (day > latest) return { key: 'order.day.far', values: {} };
  return undefined;
}

/** Until when a payment still leaves today, or that it is too late for that. */
export function cutoffWords({ today, earliest, cutoff, late }: PayableDays, zone: string): SaidOfDay | undefined {
  if (!cutoff) return undefined;
  const { time } = cutoff;
  if (earliest > today) return late === 'cutoff' ? { key: 'order.day.cutoffPast', values: { time } } : undefined;
  if (cutoff.zone === zone) return { key: 'order.day.cutoff', values: { time } };
  return { key: 'order.day.cutoffIn', values: { time, place: cutoff.zone.replace(/^.*\//, '').replaceAll('_', ' ') } };
}

/** As ISO 8601 counts: 7 is Sunday. */
function weekday(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay() || 7;
}

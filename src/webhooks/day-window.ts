import { addDays } from '../values/calendar.ts';

/** Days before and after today whose partitions a statement searches. Older rows are handled by a slower statement. */
const DAYS_BACK = 7;
const DAYS_AHEAD = 2;

/**
 * The days for which a statement is made: part of its name, and bounds in its text. Partitions outside these days cost nothing, not even
 * planning.
 */
export interface DayWindow {
  name: string;
  from: string;
  to: string;
  fromMs: number;
  toMs: number;
}

/** @param now service time; days are UTC days, like the partitions */
export function windowAround(now: Date): DayWindow {
  const day = now.toISOString().slice(0, 10);
  const [from, to] = [`${addDays(day, -DAYS_BACK)}T00:00:00Z`, `${addDays(day, DAYS_AHEAD)}T00:00:00Z`];
  return { name: day, from, to, fromMs: Date.parse(from), toMs: Date.parse(to) };
}

export function inWindow(window: DayWindow, createdAt: Date): boolean {
  const at = createdAt.getTime();
  return at >= window.fromMs && at < window.toMs;
}

/** The SQL condition that keeps a column within the window; `true` without a window. */
export function within(column: string, window: DayWindow | undefined): string {
  return window ? `${column} >= '${window.from}' and ${column} < '${window.to}'` : 'true';
}

import { BoundedMap } from '../values/bounded-map.ts';
import { londonTimestamp } from '../values/calendar.ts';

const MAX_CACHED_HOURS = 50_000;
const hours = new BoundedMap<string, [start: string, offset: string]>(MAX_CACHED_HOURS);

/**
 * Writes an instant with its Europe/London offset. Offsets change on full hours, so each hour is converted once.
 * @param wall UTC wall time as PostgreSQL writes it: `2026-07-01 09:15:00.123`
 * @returns `2026-07-01T10:15:00+01:00`, without the fraction of a second
 */
export function londonTime(wall: string): string {
  const hour = wall.slice(0, 13);
  let known = hours.get(hour);
  if (known === undefined) {
    const shown = londonTimestamp(new Date(`${hour.replace(' ', 'T')}:00:00Z`));
    known = [shown.slice(0, 13), shown.slice(19)];
    hours.set(hour, known);
  }
  return known[0] + wall.slice(13, 19) + known[1];
}

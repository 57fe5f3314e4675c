/**
 * Time. This is the only file that reads the clock; everything else is given a `Clock` or an instant. Days of the client interface are
 * Europe/London days (service interface, GET /payments).
 */

/** A source of the current instant. */
export interface Clock {
  now(): Date;
}

/** The machine's clock plus an offset. In a sandbox the operator may move it (PUT /clock); in production the offset is 0. */
export class ServiceClock implements Clock {
  /** Milliseconds. */
  offset = 0;

  now(): Date {
    return new Date(Date.now() + this.offset);
  }
}

/** Milliseconds of a clock that never jumps. Use it to measure durations. */
export function monotonic(): number {
  return performance.now();
}

const MINUTE_MS = 60_000;
/** A quarter of an hour. Within one, no zone changes its offset: most change on full hours, Lord Howe Island on a half hour. */
const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;
const MAX_CACHED_DAYS = 20_000;
const MAX_CACHED_QUARTERS = 4_000;

/**
 * Calculates a zone's offset at an instant. On all but two days of a year the offset is the same all day. On those two it changes at a full
 * quarter of an hour. So one offset is kept for each such day, and one for each quarter of an hour on the other two. Intl costs 2 us, the
 * map 30 ns.
 */
class Zone {
  /** Null for a day on which the offset changes. */
  readonly #days = new Map<number, number | null>();
  readonly #quarters = new Map<number, number>();
  readonly #format: Intl.DateTimeFormat;

  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-GB', { timeZone: name, timeZoneName: 'longOffset', year: 'numeric' });
  }

  /** Minutes east of UTC at an instant (milliseconds since 1970). */
  offsetAt(instant: number): number {
    const day = Math.floor(instant / DAY_MS);
    let known = this.#days.get(day);
    if (known === undefined) {
      const first = this.#calculate(day * DAY_MS);
      known = first === this.#calculate((day + 1) * DAY_MS - 1) ? first : null;
      if (this.#days.size >= MAX_CACHED_DAYS) this.#days.clear();
      this.#days.set(day, known);
    }
    return known ?? this.#offsetOfQuarter(Math.floor(instant / QUARTER_MS));
  }

  #offsetOfQuarter(quarter: number): number {
    let known = this.#quarters.get(quarter);
    if (known === undefined) {
      known = this.#calculate(quarter * QUARTER_MS);
      if (this.#quarters.size >= MAX_CACHED_QUARTERS) this.#quarters.clear();
      this.#quarters.set(quarter, known);
    }
    return known;
  }

  #calculate(instant: number): number {
    const text = this.#format.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
    const match = /GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(text);
    return match?.[1] ? (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) : 0;
  }

  /**
   * The instant of a local wall time, which is given as if it were UTC. A skipped time is read as the later instant, a repeated time as the
   * earlier one.
   */
  instantOf(wall: number): Date {
    const early = wall - this.offsetAt(wall - DAY_MS) * MINUTE_MS;
    const late = wall - this.offsetAt(wall + DAY_MS) * MINUTE_MS;
    const fits = (instant: number) => instant + this.offsetAt(instant) * MINUTE_MS === wall;
    if (fits(Math.min(early, late))) return new Date(Math.min(early, late));
    return new Date(Math.max(early, late));
  }
}

const london = new Zone('Europe/London');
const newYork = new Zone('America/New_York');

/** Zones that settings have named. There are about 600 in all. */
const ZONES = new Map([
  ['Europe/London', london],
  ['America/New_York', newYork],
]);
/** A zone's name. It excludes offsets such as `+01:00` and blanks. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

/** Whether a text is the name of a zone in the IANA time zone database, such as `Europe/London`. */
export function isTimeZone(name: string): boolean {
  if (ZONES.has(name)) return true;
  if (!ZONE_NAME.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** @throws RangeError if there is no such zone */
function zoneNamed(name: string): Zone {
  const zone = ZONES.get(name) ?? new Zone(name);
  ZONES.set(name, zone);
  return zone;
}

/**
 * The instant at which clocks of a zone show a time (`HH:MM`) on a calendar day. A time that the clocks skip is read with the offset before
 * the change.
 */
export function instantIn(zone: string, day: string, time: string): Date {
  return zoneNamed(zone).instantOf(Date.parse(`${day}T${time}:00Z`));
}

/** The offset of a zone at an instant, such as `+01:00`. */
export function offsetIn(zone: string, instant: Date): string {
  const minutes = zoneNamed(zone).offsetAt(instant.getTime());
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${minutes < 0 ? '-' : '+'}${hours}:${rest}`;
}

/** The day of the week of a calendar day, numbered as in ISO 8601: 1 is Monday, 7 is Sunday. */
export function isoWeekday(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay() || 7;
}

/** An instant in ISO 8601 with the London offset and whole seconds: `2026-07-01T10:15:00+01:00` (docs/decisions.md, 2). */
export function londonTimestamp(instant: Date): string {
  const time = instant.getTime();
  const offset = london.offsetAt(time);
  const wall = new Date(time + offset * MINUTE_MS).toISOString();
  return `${wall.slice(0, 19)}+${offset === 60 ? '01' : '00'}:00`;
}

/** The Europe/London calendar day of an instant, `YYYY-MM-DD`. */
export function londonDay(instant: Date): string {
  const time = instant.getTime();
  return new Date(time + london.offsetAt(time) * MINUTE_MS).toISOString().slice(0, 10);
}

/** The first instant of a London calendar day (`YYYY-MM-DD`). */
export function startOfLondonDay(day: string): Date {
  return london.instantOf(Date.parse(`${day}T00:00:00Z`));
}

/** The day that is a number of days after a calendar day, or before it if the number is negative. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The number of days from one calendar day to another. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS);
}

/** Day of the week (0 = Sunday), minutes since midnight and calendar day in New York at an instant. The FX week follows New York time. */
export function newYorkTime(instant: Date): { weekday: number; minutes: number; day: string } {
  const time = instant.getTime();
  const wall = new Date(time + newYork.offsetAt(time) * MINUTE_MS);
  return {
    weekday: wall.getUTCDay(),
    minutes: wall.getUTCHours() * 60 + wall.getUTCMinutes(),
    day: wall.toISOString().slice(0, 10),
  };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether a text is a calendar day in the form `YYYY-MM-DD`, from year 1 on. 2026-02-30 is not. */
export function isCalendarDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8));
  if (year === 0 || day === 0 || day > (DAYS_OF_MONTHS[month - 1] ?? 0)) return false;
  return month !== 2 || day < 29 || isLeapYear(year);
}

/** A leap year of the Gregorian calendar, which ISO 8601 uses for all years. */
function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** The start of a period that a caller wrote: an instant, or the beginning of a day (`YYYY-MM-DD`, UTC). Undefined if it is neither. */
export function parseStart(text: string): Date | undefined {
  return isCalendarDay(text) ? new Date(`${text}T00:00:00Z`) : parseInstant(text);
}

/**
 * The end of a period that a caller wrote, exclusive: an instant, or the end of a day (`YYYY-MM-DD`, UTC), so that the period includes the
 * day. Undefined if it is neither.
 */
export function parseEnd(text: string): Date | undefined {
  return isCalendarDay(text) ? new Date(Date.parse(`${text}T00:00:00Z`) + DAY_MS) : parseInstant(text);
}

/** An instant from ISO 8601 text with an offset, or undefined if the text is not one. */
export function parseInstant(text: string): Date | undefined {
  if (!INSTANT.test(text) || !isCalendarDay(text.slice(0, 10))) return undefined;
  const instant = new Date(text);
  return Number.isNaN(instant.getTime()) ? undefined : instant;
}

import { addDays, instantIn, londonDay } from '../values/calendar.ts';
import { type BodyFault, refusedBody } from '../values/errors.ts';
import { afterBusinessDays, closedWords, isPast, MAX_DAYS_AHEAD, nextBusinessDay } from './business-days.ts';
import type { CurrencySettings } from './currency.ts';

/** Determines on which day an exchange settles (instructions, 7). Pure rules; today is the London day. */

/** A spot is due within this number of business days, or within the larger cut-off of its currencies. */
const SPOT_DAYS = 2;
/** Seconds of the last minute of a London day, in milliseconds, for a currency without a cut-off time. */
const END_OF_DAY_MS = 59_000;

/** The settings of a currency that a value date depends on. */
export type SettledCurrency = Pick<
  CurrencySettings,
  'currency' | 'weekend' | 'holidays' | 'cutoff_days' | 'cutoff_time' | 'cutoff_timezone'
>;

/** A drawdown settles like a spot, on any day until the maturity of the trade that it draws down. */
export type DatedExchange = 'spot' | 'forward' | 'drawdown';

interface Dated {
  kind: DatedExchange;
  /** `YYYY-MM-DD`; undefined: as early as possible. */
  asked: string | undefined;
  /** The sold currency, then the bought one. */
  currencies: readonly [SettledCurrency, SettledCurrency];
  now: Date;
  /** Only for a drawdown: the London day on which the trade that it draws down matures. */
  maturity?: string | undefined;
}

/** The day on which an exchange settles. */
export interface ValueDate {
  date: string;
  /** Why the day differs from the requested one; null if it does not, or if none was requested. */
  warning: string | null;
}

/** Like `judgeValueDate`. @throws Problem invalid_body if the day, or the day that it moves to, is too late */
export function valueDate(dated: Dated): ValueDate {
  const judged = judgeValueDate(dated);
  if ('code' in judged) throw refusedBody([judged]);
  return judged;
}

/**
 * The day on which an exchange settles: the requested one, or the first possible day after it.
 * @returns the fault of the request if the day, or the day that it moves to, is too late
 */
export function judgeValueDate({ kind, asked, currencies, now, maturity }: Dated): ValueDate | BodyFault {
  const today = londonDay(now);
  const past = currencies.some((each) => isPast({ time: each.cutoff_time, zone: each.cutoff_timezone }, now));
  const start = nextBusinessDay(past ? addDays(today, 1) : today, ...currencies);
  const days = Math.max(...currencies.map((each) => each.cutoff_days));
  const lastSpot = afterBusinessDays(start, Math.max(SPOT_DAYS, days), ...currencies);
  const earliest =
    kind === 'forward'
      ? nextBusinessDay(addDays(lastSpot, 1), ...currencies)
      : afterBusinessDays(start, days, ...currencies);
  const wanted = asked ?? earliest;
  const latest = addDays(today, MAX_DAYS_AHEAD);
  const last = { spot: lastSpot, forward: latest, drawdown: maturity ?? latest }[kind];
  const tooLate = { field: 'value_date', message: TOO_LATE[kind](last), code: 'invalid_format' as const };
  if (wanted > last) return tooLate;
  const date = nextBusinessDay(wanted < earliest ? earliest : wanted, ...currencies);
  if (date > last) return tooLate;
  if (date === wanted) return { date, warning: null };
  const reason =
    wanted < today
      ? 'is in the past'
      : (closedWords(wanted, ...currencies) ?? `is before the first possible day of a ${kind}`);
  return { date, warning: `value_date: ${wanted} ${reason}; ${date} is used` };
}

const TOO_LATE: Record<DatedExchange, (last: string) => string> = {
  spot: (last) => `must be at most ${last} for a spot; ask for a forward`,
  forward: (last) => `must be at most ${last}, ${MAX_DAYS_AHEAD} days from today`,
  drawdown: (last) => `must be at most ${last}, when the trade matures`,
};

/** The moment at which an exchange matures: on its value date, at the cut-off of the sold currency or else at the end of the London day. */
export function maturityOf(day: string, sold: Pick<SettledCurrency, 'cutoff_time' | 'cutoff_timezone'>): Date {
  if (sold.cutoff_time !== null) return instantIn(sold.cutoff_timezone, day, sold.cutoff_time);
  return new Date(instantIn('Europe/London', day, '23:59').getTime() + END_OF_DAY_MS);
}

import type { ReactNode } from 'react';
import { useLocale } from '../texts/text.tsx';
import { dateFormat } from './formats.ts';

const MOMENT: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'short' };
const EXACT: Intl.DateTimeFormatOptions = { dateStyle: 'full', timeStyle: 'long' };
const DATE: Intl.DateTimeFormatOptions = { dateStyle: 'medium' };
const TIME: Intl.DateTimeFormatOptions = { timeStyle: 'short' };
const DAY: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeZone: 'UTC' };

interface MomentProps {
  at: string | null;
  /** Puts the time below the day, for narrow columns. */
  isStacked?: boolean;
  /** Shows only the day; hovering shows the exact time. */
  isDay?: boolean;
  /** Shows only the time, because the day is shown above. */
  isTime?: boolean;
}

/** An instant in the person's language and time zone; hovering shows the exact time. */
export function Moment({ at, isStacked = false, isDay = false, isTime = false }: MomentProps): ReactNode {
  const locale = useLocale();
  if (at === null) return null;
  const date = new Date(at);
  const format = dateFormat(locale, isDay ? DATE : isTime ? TIME : MOMENT);
  return (
    <time dateTime={at} title={dateFormat(locale, EXACT).format(date)} className={isStacked ? 'stacked' : undefined}>
      {isStacked ? <Halves parts={format.formatToParts(date)} /> : format.format(date)}
    </time>
  );
}

/** The day and the time, with the separator of the language. */
function Halves({ parts }: { parts: Intl.DateTimeFormatPart[] }): ReactNode {
  const hour = parts.findIndex(({ type }) => type === 'hour');
  const textOf = (some: Intl.DateTimeFormatPart[]) => some.map(({ value }) => value).join('');
  return (
    <>
      <span>{textOf(parts.slice(0, hour - 1))}</span>
      {parts[hour - 1]?.value}
      <span>{textOf(parts.slice(hour))}</span>
    </>
  );
}

/** A calendar day as text, the same in every time zone. @param on `YYYY-MM-DD` */
export function formatDay(on: string, locale: string): string {
  return dateFormat(locale, DAY).format(new Date(`${on.slice(0, 10)}T00:00:00Z`));
}

/** A calendar day, the same in every time zone. @param on `YYYY-MM-DD` */
export function Day({ on }: { on: string | null }): ReactNode {
  const locale = useLocale();
  if (on === null) return null;
  return <time dateTime={on}>{formatDay(on, locale)}</time>;
}

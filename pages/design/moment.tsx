import type { ReactNode } from 'react';
import { useLocale } from '../texts/text.tsx';
import { dateFormat } from './formats.ts';

const MOMENT: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'short' };
const EXACT: Intl.DateTimeFormatOptions = { dateStyle: 'full', timeStyle: 'long' };
const DAY: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeZone: 'UTC' };

/** An instant in the person's language and time zone; the exact one on hover. */
export function Moment({ at }: { at: string | null }): ReactNode {
  const locale = useLocale();
  if (at === null) return null;
  const date = new Date(at);
  return (
    <time dateTime={at} title={dateFormat(locale, EXACT).format(date)}>
      {dateFormat(locale, MOMENT).format(date)}
    </time>
  );
}

/** A calendar day, the same in every time zone. @param on `YYYY-MM-DD` */
export function Day({ on }: { on: string | null }): ReactNode {
  const locale = useLocale();
  if (on === null) return null;
  return <time dateTime={on}>{dateFormat(locale, DAY).format(new Date(`${on.slice(0, 10)}T00:00:00Z`))}</time>;
}

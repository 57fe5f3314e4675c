import { useQuery } from '@tanstack/react-query';
import { marketsQuery } from '../../data/quotes.ts';
import { dateFormat } from '../../design/formats.ts';
import { useLocale } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';

/** A weekday says more than a date: markets open within days. */
const OPENING: Intl.DateTimeFormatOptions = {
  ...{ weekday: 'long', day: 'numeric', month: 'long' },
  ...{ hour: '2-digit', minute: '2-digit' },
};

/**
 * Whether no exchange can be booked now, and when it can be again, in the person's words and time zone.
 * @param isNeeded whether an exchange is wanted; nothing is asked before
 * @returns undefined while the markets are open, or while nothing is known
 */
export function useClosedMarkets(isNeeded: boolean): { until: string | undefined } | undefined {
  const { client_id: clientId } = useClient();
  const locale = useLocale();
  const { data } = useQuery({ ...marketsQuery(clientId), enabled: isNeeded });
  if (!isNeeded || !data || data.open) return undefined;
  return { until: data.opens_at === null ? undefined : dateFormat(locale, OPENING).format(new Date(data.opens_at)) };
}

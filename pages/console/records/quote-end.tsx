import type { ReactNode } from 'react';
import type { Answered } from '../../data/operator-api.ts';
import { Moment } from '../../design/moment.tsx';
import { useText } from '../../texts/text.tsx';
import { IdLink } from '../lists/links.tsx';

type Quote = Answered<'GET /quotes/{quote_id}'>;

/** Why a quote ended, or until when it can be booked. */
export function QuoteEnd({ quote }: { quote: Quote }): ReactNode {
  const t = useText();
  if (quote.trade_id)
    return (
      <span>
        {t('console.quote.booked')} <IdLink to="trades" id={quote.trade_id} />
      </span>
    );
  return (
    <span>
      {t(quote.status === 'open' ? 'console.quote.until' : 'console.quote.expired')} <Moment at={quote.expires_at} />
    </span>
  );
}

import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Offer, termsOf } from '../../data/quotes.ts';
import { Button } from '../../design/button.tsx';
import { Facts } from '../../design/facts.tsx';
import { Day } from '../../design/moment.tsx';
import { formatMoney, Money } from '../../design/money.tsx';
import { Status } from '../../design/notice.tsx';
import { useSecondsLeft } from '../../design/seconds-left.ts';
import { useLocale, useText } from '../../texts/text.tsx';
import { Rate } from '../trades/rate.tsx';

interface OfferCardProps {
  offer: Offer;
  isBooking: boolean;
  /** True if it is unknown whether the booking succeeded. */
  isUnclear: boolean;
  onBook: () => void;
}

/** The price of an exchange, how long it holds, and `Book`. */
export function OfferCard({ offer, isBooking, isUnclear, onBook }: OfferCardProps): ReactNode {
  const t = useText();
  const locale = useLocale();
  const isFirm = 'quote' in offer;
  const left = useSecondsLeft(isFirm ? offer.untilMs : 0);
  const terms = termsOf(offer);
  const rate = isFirm ? decimal(offer.quote, 'quoted_rate') : decimal(offer.estimate, 'estimated_rate');
  const sold = { amount: decimal(terms, 'sell_amount'), currency: terms.sell_currency };
  const bought = { amount: decimal(terms, 'buy_amount'), currency: terms.buy_currency };
  const isOver = isFirm && left === 0;
  const said = t(isFirm ? 'exchange.offered' : 'exchange.estimated', {
    sold: formatMoney(sold.amount, sold.currency, locale),
    bought: formatMoney(bought.amount, bought.currency, locale),
  });
  return (
    <section className="card stack" aria-labelledby="offer">
      <h2 id="offer">{t(isFirm ? 'exchange.offer' : 'exchange.estimate')}</h2>
      <div role="status" className="visually-hidden">
        {said}
      </div>
      <Facts
        facts={[
          { name: t('exchange.sold'), value: <Money {...sold} /> },
          { name: t('exchange.bought'), value: <Money {...bought} /> },
          {
            name: t('exchange.rate'),
            value: <Rate sold={terms.sell_currency} bought={terms.buy_currency} rate={rate} />,
          },
          { name: t('exchange.value_date'), value: <Day on={terms.value_date} /> },
        ]}
      />
      {terms.warning && <div className="notice warn">{terms.warning}</div>}
      {isFirm && !isOver && (
        <p role="timer" aria-label={t('exchange.left')}>
          {t('exchange.seconds', { seconds: left })}
        </p>
      )}
      <Status tone={isFirm && !isUnclear ? 'warn' : 'info'}>
        {isUnclear ? t('exchange.unclear') : isOver ? t('exchange.over') : !isFirm && t('exchange.closed')}
      </Status>
      {isFirm && (!isOver || isUnclear) && (
        <div className="row">
          <Button kind="primary" isPending={isBooking} onPress={onBook}>
            {t('exchange.book')}
          </Button>
        </div>
      )}
    </section>
  );
}

import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Offer, termsOf } from '../../data/quotes.ts';
import { Button } from '../../design/button.tsx';
import { formatMoney } from '../../design/money.tsx';
import { useSecondsLeft } from '../../design/seconds-left.ts';
import { useLocale, useText } from '../../texts/text.tsx';
import { Rate } from '../trades/rate.tsx';

/** The rate of an order's exchange, its cost, and how long the price holds. */
export function Price({ offer, onRenew }: { offer: Offer; onRenew: () => void }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const isFirm = 'quote' in offer;
  const left = useSecondsLeft(isFirm ? offer.untilMs : 0);
  const terms = termsOf(offer);
  const rate = isFirm ? decimal(offer.quote, 'quoted_rate') : decimal(offer.estimate, 'estimated_rate');
  const sold = formatMoney(decimal(terms, 'sell_amount'), terms.sell_currency, locale);
  const bought = formatMoney(decimal(terms, 'buy_amount'), terms.buy_currency, locale);
  const isOver = isFirm && left === 0;
  return (
    <div className="notice info row apart">
      <div>
        <p>
          <strong>
            <Rate sold={terms.sell_currency} bought={terms.buy_currency} rate={rate} />
          </strong>
          {isFirm && !isOver && (
            <>
              {' · '}
              <span role="timer" aria-label={t('exchange.left')}>
                {t('exchange.seconds', { seconds: left })}
              </span>
            </>
          )}
        </p>
        <p role="status">
          {isOver ? t('order.price.over') : t(isFirm ? 'order.price' : 'order.price.closed', { sold, bought })}
        </p>
      </div>
      {isOver && <Button onPress={onRenew}>{t('order.price.renew')}</Button>}
    </div>
  );
}

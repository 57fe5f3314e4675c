import type { ReactNode } from 'react';
import type { PaymentView } from '../../data/payments.ts';
import { Moment } from '../../design/moment.tsx';
import { useText } from '../../texts/text.tsx';

/** The notifications of a payment to the client's programs, and whether they were received. */
export function PaymentNotifications({ notifications }: Pick<PaymentView['way'], 'notifications'>): ReactNode {
  const t = useText();
  return (
    <section className="card stack" aria-labelledby="payment-notifications">
      <h2 id="payment-notifications">{t('payments.notifications')}</h2>
      {notifications.length === 0 && <p className="quiet">{t('payments.notifications.none')}</p>}
      <ul className="plain stack tight">
        {notifications.map(({ what, at, delivered, pending, failed }) => (
          <li key={`${what} ${at}`}>
            <code>{what}</code>{' '}
            <span className="quiet small">
              <Moment at={at} />
            </span>
            <div className="small">
              {delivered + pending + failed === 0
                ? t('payments.notifications.nobody')
                : t('payments.notifications.state', { delivered, pending, failed })}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

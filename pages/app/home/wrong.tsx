import type { ReactNode } from 'react';
import type { PaymentOutlook } from '../../data/payments.ts';
import { Badge } from '../../design/badge.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { useText } from '../../texts/text.tsx';
import { PaymentLink } from '../payments/payment-link.tsx';

/** Recent failures, and payments that cannot proceed. */
export function WrongPayments({ wrong }: Pick<PaymentOutlook, 'wrong'>): ReactNode {
  const t = useText();
  return (
    <section className="card stack" aria-labelledby="home-wrong">
      <h2 id="home-wrong">{t('home.wrong')}</h2>
      {wrong.length === 0 ? (
        <p className="quiet">{t('home.wrong.none')}</p>
      ) : (
        <ul className="plain stack">
          {wrong.map(({ payment_id: id, what, amount, payment_currency: currency, beneficiary_name: payee, at }) => (
            <li key={id} className="stack tight">
              <span className="row apart">
                <PaymentLink id={id} />
                <Badge tone={what === 'information' ? 'warn' : 'bad'}>{t(`home.wrong.${what}`)}</Badge>
              </span>
              <span className="small quiet">
                <Money amount={amount} currency={currency} /> · <ForeignText>{payee}</ForeignText>
                {at !== null && (
                  <>
                    {' · '}
                    <Moment at={at} isDay />
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

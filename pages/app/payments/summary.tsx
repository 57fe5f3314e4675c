import type { ReactNode } from 'react';
import type { PaymentView } from '../../data/payments.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day } from '../../design/moment.tsx';
import { useText } from '../../texts/text.tsx';
import { OutcomeText } from '../decide/outcome.tsx';
import { ExplainedMarks } from './marks.tsx';
import { Amount, PayeeAccount } from './payee.tsx';
import { PaymentStatus } from './status.tsx';
import './summary.css';

/** What people look at first: the amount, the payee, and the status. */
export function PaymentSummary({ view: { payment, way, marks } }: { view: PaymentView }): ReactNode {
  const t = useText();
  const waits = payment.status === 'Payment pending of authorization';
  return (
    <section className="card payment-head" aria-label={t('payments.summary')}>
      <div className="stack tight">
        <p className="payment-amount">
          <Amount payment={payment} />
        </p>
        <p>
          {t('payments.to')}{' '}
          <strong>
            <ForeignText>{payment.beneficiary_name}</ForeignText>
          </strong>
        </p>
        <PayeeAccount payment={payment} />
        <p className="quiet">
          {t('payments.by')} <ForeignText>{payment.ordered_by_name}</ForeignText>
        </p>
      </div>
      <div className="stack tight payment-state">
        <PaymentStatus status={payment.status} />
        <p className="small">
          <span className="quiet">{t('payments.field.payment_date')}</span> <Day on={payment.payment_date} />
        </p>
        {payment.reference && (
          <p className="small">
            <span className="quiet">{t('payments.field.reference')}</span>{' '}
            <ForeignText>{payment.reference}</ForeignText>
          </p>
        )}
        {!waits && (
          <p className="small">
            <OutcomeText outcome={way.outcome} />
          </p>
        )}
        <ExplainedMarks marks={marks} />
      </div>
    </section>
  );
}

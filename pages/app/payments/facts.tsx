import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Payment } from '../../data/payments.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day, Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { capitalised } from '../../texts/capitalised.ts';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { TradeLink } from '../trades/trade-link.tsx';

const STATES = [
  ['payments.payee.active', 'beneficiary_active'],
  ['payments.payee.authorised', 'beneficiary_authorised'],
  ['payments.payee.verified', 'beneficiary_verified'],
  ['payments.payee.blocked', 'beneficiary_blocked'],
] as const satisfies readonly (readonly [TextKey, keyof Payment])[];

/** Everything known about a payment. */
export function PaymentFacts({ payment }: { payment: Payment }): ReactNode {
  const t = useText();
  const foreign = (text: string | null) => text && <ForeignText>{text}</ForeignText>;
  const code = (text: string | null) => text && <span className="digits">{text}</span>;
  const charges = (text: string | null) =>
    text === 'SHA' || text === 'OUR' ? `${t(`order.charges.${text}`)} (${text})` : foreign(text);
  const states = STATES.filter(([, field]) => payment[field]).map(([key]) => t(key));
  return (
    <section className="card stack" aria-labelledby="payment-facts">
      <h2 id="payment-facts">{t('payments.facts')}</h2>
      <Facts
        facts={[
          { name: t('payments.field.reference'), value: foreign(payment.reference) },
          { name: t('payments.field.payment_date'), value: <Day on={payment.payment_date} /> },
          { name: t('payments.field.created_date'), value: <Moment at={payment.created_date} /> },
          { name: t('payments.field.ordered_by_name'), value: foreign(payment.ordered_by_name) },
          {
            name: t('payments.field.fee_amount'),
            value: payment.fee_amount !== null && (
              <Money
                amount={decimal(payment, 'fee_amount')}
                currency={payment.fee_currency ?? payment.payment_currency}
              />
            ),
          },
          { name: t('payments.field.charges'), value: charges(payment.charges) },
          { name: t('payments.field.beneficiary_id'), value: code(payment.beneficiary_id) },
          { name: t('payments.field.beneficiary_state'), value: capitalised(states.join(', ')) || null },
          { name: t('payments.field.trade_id'), value: payment.trade_id && <TradeLink id={payment.trade_id} /> },
          { name: t('payments.field.multipayment'), value: code(payment.multipayment) },
          {
            name: t('payments.field.invoice_required'),
            value: t(payment.invoice_required ? 'payments.yes' : 'payments.no'),
          },
          { name: t('payments.field.reason'), value: foreign(payment.reason ?? null) },
          { name: t('payments.field.uuid'), value: code(payment.uuid) },
        ].map(({ name, value }) => ({ name, value: value || null }))}
      />
    </section>
  );
}

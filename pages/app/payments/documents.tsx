import type { ReactNode } from 'react';
import type { Payment } from '../../data/payments.ts';
import { useText } from '../../texts/text.tsx';
import { DocumentPreview } from '../document.tsx';

/** The documents of a payment. */
export function PaymentDocuments({ clientId, payment }: { clientId: string; payment: Payment }): ReactNode {
  const t = useText();
  const kinds = ['pi', ...(payment.payment_receipt ? ['pr'] : [])] as ('pi' | 'pr')[];
  return (
    <section className="card stack" aria-labelledby="payment-documents">
      <h2 id="payment-documents">{t('payments.documents')}</h2>
      {kinds.map((kind) => (
        <DocumentPreview
          key={kind}
          clientId={clientId}
          kind={kind}
          id={payment.payment_id}
          name={t(`payments.document.${kind}`)}
        />
      ))}
      {!payment.payment_receipt && <p className="quiet small">{t('payments.document.later')}</p>}
    </section>
  );
}

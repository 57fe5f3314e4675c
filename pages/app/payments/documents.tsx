import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { CLIENT_API } from '../../data/client-api.ts';
import type { Payment } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { Alert } from '../../design/notice.tsx';
import { Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';

/** The documents of a payment: each can be looked at here, or opened by itself. */
export function PaymentDocuments({ clientId, payment }: { clientId: string; payment: Payment }): ReactNode {
  const t = useText();
  const kinds = ['pi', ...(payment.payment_receipt ? ['pr'] : [])] as ('pi' | 'pr')[];
  return (
    <section className="card stack" aria-labelledby="payment-documents">
      <h2 id="payment-documents">{t('payments.documents')}</h2>
      {kinds.map((kind) => (
        <PaymentDocument
          key={kind}
          name={t(`payments.document.${kind}`)}
          address={`${CLIENT_API}/documents?${new URLSearchParams({ type: kind, id: payment.payment_id, client_id: clientId })}`}
        />
      ))}
      {!payment.payment_receipt && <p className="quiet small">{t('payments.document.later')}</p>}
    </section>
  );
}

function PaymentDocument({ name, address }: { name: string; address: string }): ReactNode {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="stack tight">
      <div className="row apart">
        <strong>{name}</strong>
        <span className="row">
          <Button
            kind="quiet"
            aria-expanded={isOpen}
            aria-label={t('payments.document.preview', { name })}
            onPress={() => setOpen(!isOpen)}
          >
            {t(isOpen ? 'payments.document.hide' : 'payments.document.show')}
          </Button>
          <a href={address} target="_blank" rel="noopener noreferrer">
            {t('payments.document.open')}
            <span className="visually-hidden"> {name}</span>
          </a>
        </span>
      </div>
      {isOpen && <Preview name={name} address={address} />}
    </div>
  );
}

/** The document itself, fetched once: its frame shows bytes of this page, and no other address. */
function Preview({ name, address }: { name: string; address: string }): ReactNode {
  const t = useText();
  const { data, error } = useQuery({
    queryKey: ['document', address],
    queryFn: async ({ signal }) => {
      const answer = await fetch(address, { signal });
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.blob();
    },
  });
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!data) return;
    const made = URL.createObjectURL(data);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  if (error) return <Alert>{t('payments.document.failed')}</Alert>;
  return url ? <iframe className="payment-preview" title={name} src={url} /> : <Loading rows={6} />;
}

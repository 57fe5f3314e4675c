import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Payment } from '../../../sdk/src/generated/api.ts';
import { paymentsQuery } from '../../data/documents.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DocumentPreview } from '../document.tsx';
import { Pager } from '../pager.tsx';
import { DocumentSearch } from './document-search.tsx';

const PAGE_ROWS = 10;

/** The documents of payments, the newest payment first. */
export function PaymentDocuments(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [wanted, setWanted] = useState({ text: '', page: 1 });
  const { data, error, refetch } = useQuery(paymentsQuery(clientId, { ...wanted, size: PAGE_ROWS }));
  return (
    <div className="stack">
      <DocumentSearch label={t('documents.find')} onSearch={(text) => setWanted({ text, page: 1 })} />
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.total === 0 && <Empty title={t('documents.none')}>{t('documents.none.text')}</Empty>}
      {data?.rows.map((payment) => (
        <PaymentCard key={payment.payment_id} payment={payment} />
      ))}
      {data && (
        <Pager
          page={wanted.page}
          size={PAGE_ROWS}
          total={data.total}
          onPage={(page) => setWanted({ ...wanted, page })}
        />
      )}
    </div>
  );
}

function PaymentCard({ payment }: { payment: Payment }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { payment_id: id, beneficiary_name: payee, payment_currency: currency, created_date: created } = payment;
  const kinds = ['pi', ...(payment.payment_receipt ? ['pr'] : [])] as ('pi' | 'pr')[];
  return (
    <section className="card stack" aria-label={`${t('documents.payment')} ${id}`}>
      <div className="row apart">
        <h2>
          <Link to="/payments/$payment_id" params={{ payment_id: id } as never}>
            {id}
          </Link>
        </h2>
        <strong>
          <Money amount={decimal(payment, 'amount')} currency={currency} />
        </strong>
      </div>
      <p className="quiet small">
        <Moment at={created} /> · <ForeignText>{payee}</ForeignText>
        {payment.reference && (
          <>
            {' · '}
            <ForeignText>{payment.reference}</ForeignText>
          </>
        )}
      </p>
      {kinds.map((kind) => (
        <DocumentPreview key={kind} clientId={clientId} kind={kind} id={id} name={`${t(`documents.${kind}`)} ${id}`} />
      ))}
    </section>
  );
}

import { type ReactNode, useState } from 'react';
import { useText } from '../../texts/text.tsx';
import { ListLink } from '../lists/links.tsx';
import { PART_ROWS, Records } from '../lists/records.tsx';
import { usePaymentColumns } from './payment-columns.tsx';

/** The payments of a client, a trade or a payee, newest first. */
export function RelatedPayments({ query }: { query: { client_id: string } & Record<string, string> }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  return (
    <section className="card stack" aria-labelledby="payments">
      <div className="row apart">
        <h2 id="payments">{t('console.client.payments')}</h2>
        <ListLink to="/payments" search={query}>
          {t('console.list.all')}
        </ListLink>
      </div>
      <Records
        name={t('console.client.payments')}
        operation="GET /payments"
        query={{ ...query, order: 'desc' }}
        page={page}
        rows={PART_ROWS}
        onPage={setPage}
        rowKey={({ payment_id: id }) => id}
        columns={usePaymentColumns().filter(({ key }) => key !== 'client')}
      />
    </section>
  );
}

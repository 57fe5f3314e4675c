import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Listing } from '../lists/listing.tsx';
import { NewestPayments } from './newest-payments.tsx';
import { usePaymentColumns } from './payment-columns.tsx';

const STATUSES = ['pending', 'pending_to_authorise', 'authorised', 'cancelled', 'rejected', 'complete'];

/** Payments of a client, or those with a given reference or id; before anything is asked for, those of all clients that came last. */
export default function PaymentsPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.payments');
  return (
    <Page title={name}>
      <Listing
        name={name}
        operation="GET /payments"
        query={{ order: 'desc' }}
        needs={{
          filters: ['client_id', 'payment_ids', 'uuid', 'reference'],
          text: t('console.payments.choose'),
          first: <NewestPayments name={name} />,
        }}
        filters={[
          { name: 'client_id', label: t('console.col.client') },
          { name: 'payment_ids', label: t('console.col.payment') },
          { name: 'reference', label: t('console.col.reference') },
          { name: 'uuid', label: t('console.col.uetr') },
          { name: 'status', label: t('console.col.status'), options: STATUSES },
          { name: 'source', label: t('console.col.source'), options: ['client', 'institution'] },
          { name: 'payment_currency', label: t('console.col.currency') },
          { name: 'trade_id', label: t('console.col.trade') },
          {
            name: 'from_created_date',
            label: t('console.col.createdFrom'),
            day: true,
            group: t('console.col.created'),
          },
          { name: 'to_created_date', label: t('console.col.createdTo'), day: true, group: t('console.col.created') },
        ]}
        rowKey={({ payment_id: id }) => id}
        columns={usePaymentColumns()}
      />
    </Page>
  );
}

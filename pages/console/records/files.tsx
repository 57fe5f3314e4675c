import type { ReactNode } from 'react';
import type { MassStatus } from '../../../src/orders/mass/declaration.ts';
import { Moment } from '../../design/moment.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Count } from '../lists/count.tsx';
import { Cut, IdLink, State } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { ClientInRow } from '../lists/named.tsx';

const STATUSES: readonly MassStatus[] = [
  ...(['Queued for processing', 'Processing', 'Processed', 'Queued for creating', 'Creating', 'Created'] as const),
  ...(['Cancelled', 'Failed'] as const),
];

/** Files of payments, newest first. */
export default function FilesPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.files');
  return (
    <Page title={name}>
      <Listing
        name={name}
        operation="GET /mass-payments"
        none={t('console.none.files')}
        filters={[
          { name: 'client_id', label: t('console.col.client') },
          { name: 'mass_payment_status', label: t('console.col.status'), options: STATUSES },
          { name: 'external_reference_id', label: t('console.file.reference') },
        ]}
        rowKey={({ mass_payment_id: id }) => id}
        columns={[
          { key: 'at', title: t('console.col.at'), cell: ({ created_at: at }) => <Moment at={at} /> },
          { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="files" id={row.mass_payment_id} /> },
          {
            key: 'reference',
            title: t('console.file.reference'),
            cell: ({ external_reference_id: reference }) => <Cut>{reference}</Cut>,
          },
          { key: 'client', title: t('console.col.client'), cell: (row) => <ClientInRow id={row.client_id} /> },
          { key: 'status', title: t('console.col.status'), cell: (row) => <State>{row.mass_payment_status}</State> },
          {
            key: 'rows',
            title: t('console.file.rows'),
            numeric: true,
            cell: ({ payments_summary: { payments_received: received } }) => <Count>{received}</Count>,
          },
          {
            key: 'wrong',
            title: t('console.file.wrong'),
            numeric: true,
            cell: ({ payments_summary: { payments_errored: errored } }) => <Count>{errored}</Count>,
          },
          {
            key: 'made',
            title: t('console.file.made'),
            numeric: true,
            cell: ({ payments_summary: { payments_created: created } }) => <Count>{created}</Count>,
          },
        ]}
      />
    </Page>
  );
}

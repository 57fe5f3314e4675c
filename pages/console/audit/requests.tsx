import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Listing } from '../lists/listing.tsx';
import { useRequestColumns } from '../people/refused-requests.tsx';

/** The requests refused in the last 7 days, on all listeners. */
export default function RequestsPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.requests');
  return (
    <Page title={name}>
      <Listing
        name={name}
        operation="GET /requests"
        none={t('console.none.requests')}
        filters={[
          { name: 'request_id', label: t('console.col.request') },
          { name: 'client_id', label: t('console.col.client') },
          { name: 'contact_id', label: t('console.col.contact') },
          {
            name: 'status',
            label: t('console.col.status'),
            options: ['4xx', '5xx', '400', '401', '403', '404', '409', '429', '502'],
          },
          { name: 'from', label: t('console.col.from'), instant: true, group: t('console.col.at') },
          { name: 'to', label: t('console.col.to'), instant: true, group: t('console.col.at') },
        ]}
        rowKey={({ request_id: id, at, status }) => `${id} ${at} ${status}`}
        columns={useRequestColumns()}
      />
    </Page>
  );
}

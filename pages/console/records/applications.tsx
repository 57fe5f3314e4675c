import type { ReactNode } from 'react';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Cut, IdLink, State } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { NewApplication } from './application-acts.tsx';

/** The programs that sign contacts in. */
export default function ApplicationsPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.applications');
  return (
    <Page title={name} actions={<NewApplication />}>
      <Listing
        name={name}
        operation="GET /applications"
        filters={[{ name: 'status', label: t('console.col.status'), options: ['enabled', 'disabled'] }]}
        rowKey={({ client_id: id }) => id}
        columns={[
          { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="applications" id={row.client_id} /> },
          { key: 'name', title: t('console.col.name'), cell: (row) => <Cut>{row.name}</Cut> },
          {
            key: 'redirects',
            title: t('console.app.redirects'),
            cell: ({ redirect_uris: uris }) =>
              uris.map((uri) => (
                <div key={uri}>
                  <Cut>{uri}</Cut>
                </div>
              )),
          },
          {
            key: 'trusted',
            title: t('console.app.trusted'),
            cell: ({ trusted_clients: clients }) => (
              <span className="row">
                {clients.map((id) => (
                  <IdLink key={id} to="clients" id={id} />
                ))}
              </span>
            ),
          },
          { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
        ]}
      />
    </Page>
  );
}

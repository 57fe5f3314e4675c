import type { ReactNode } from 'react';
import { Day } from '../../design/moment.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Cut, IdLink, ListLink, State } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { useWord } from '../lists/words.ts';
import { useMay } from '../staff.ts';

/** The institution's clients. To find one by name, use the search: a name must not appear in an address. */
export default function ClientsPage(): ReactNode {
  const t = useText();
  const word = useWord();
  const may = useMay();
  const name = t('console.nav.clients');
  const actions = may('feed') && (
    <ListLink to="/new-client" search={{}} isButton>
      {t('console.new.client')}
    </ListLink>
  );
  return (
    <Page title={name} actions={actions}>
      <p className="quiet small">{t('console.list.byName')}</p>
      <Listing
        name={name}
        operation="GET /clients"
        none={t('console.none.clients')}
        filters={[{ name: 'status', label: t('console.col.status'), options: ['enabled', 'disabled'] }]}
        rowKey={({ client_id: id }) => id}
        columns={[
          { key: 'id', title: t('console.col.id'), cell: (row) => <IdLink to="clients" id={row.client_id} /> },
          { key: 'name', title: t('console.col.name'), cell: (row) => <Cut isWide>{row.client_name}</Cut> },
          {
            key: 'account',
            title: t('console.col.account'),
            cell: (row) => <Cut>{row.account_number}</Cut>,
          },
          {
            key: 'workflow',
            title: t('console.col.workflow'),
            cell: (row) => (row.payment_approvals_enabled ? word(row.authorisation_workflow) : t('console.no')),
          },
          { key: 'since', title: t('console.col.since'), cell: (row) => <Day on={row.became_client} /> },
          { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
        ]}
      />
    </Page>
  );
}
